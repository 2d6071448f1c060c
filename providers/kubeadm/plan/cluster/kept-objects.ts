import { isDeepStrictEqual } from "node:util";
import { differingPaths } from "../../../../lib/differences";
import { isObject } from "../../../../lib/json";
import type { KubernetesObject, NewObject, ObjectRef } from "../../../../lib/kubernetes/objects";
import { CLUSTER_HISTORY, CLUSTER_LEASE } from "../../../../lib/kubernetes/own-objects";
import { cutList, printable, shortened } from "../../../../lib/text/quote";
import { formatPath } from "../../../../lib/validation/validation-issue";
import type { Owner } from "../../../../lib/ownership/owner";
import { CLUSTER_OWNER, isOwnerRecord, ownerObject } from "../facts/owner-record";
import { readerObjects } from "./reader-account";
import { ANNOTATION_POLICY, annotationPolicy } from "../rollout/annotation-policy";
import type { ReaderAccountStep } from "../steps";

/** What decides which objects foresail keeps in a cluster. */
export interface KeptOptions {
  /** Pattern of the annotation keys. */
  readonly annotations: string;
  readonly hasPolicy: boolean;
  readonly configuration: boolean;
  readonly drift: boolean;
  /** Whether the annotations of certificates are protected. */
  readonly certificates: boolean;
  /** Whether the annotations of updates of the operating system are protected. */
  readonly updates: boolean;
  /** Whether the Lease and the history are kept, too, and the read-only account may read what is kept. */
  readonly comparesAll: boolean;
  /** The stack, which the cluster records as its owner; undefined while it has no identity. */
  readonly owner: Owner | undefined;
}

/** Returns the object of a reference, without fields. */
export const objectOf = ({ apiVersion, kind, namespace, name }: ObjectRef): NewObject => ({
  apiVersion,
  kind,
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
});

/**
 * Returns the objects that foresail keeps in a cluster. Each preview compares all fields of each apart from its metadata and
 * status. An object without fields must only exist: its content changes with each run.
 */
export function keptObjects(options: KeptOptions): NewObject[] {
  const { annotations, hasPolicy, configuration, drift, certificates, updates, comparesAll, owner } = options;
  return [
    ...readerObjects(comparesAll, owner !== undefined),
    ...(owner === undefined ? [] : [ownerObject(owner)]),
    ...(hasPolicy ? annotationPolicy(annotations, { configuration, drift, certificates, updates }) : []),
    ...(comparesAll ? [objectOf(CLUSTER_LEASE), objectOf(CLUSTER_HISTORY)] : []),
  ];
}

/** Returns all objects that foresail may keep in a cluster, for their removal. */
export const allKeptObjects = (annotations: string): NewObject[] => [
  ...keptObjects({
    annotations,
    hasPolicy: true,
    configuration: true,
    drift: true,
    certificates: true,
    updates: true,
    comparesAll: true,
    owner: undefined,
  }),
  objectOf(CLUSTER_OWNER),
];

/** Fields that are not compared: others may write them, and the API server does. */
const OTHERS = ["apiVersion", "metadata", "status"];

/** Returns what an object is compared by, as an API server stores it, with the server's defaults. */
function storedFields({ kind, ...object }: KubernetesObject): Record<string, unknown> {
  const fields = Object.fromEntries(Object.entries(object).filter(([key]) => !OTHERS.includes(key)));
  const { spec } = fields;
  if (kind !== "ValidatingAdmissionPolicy" || !isObject(spec) || !isObject(spec.matchConstraints))
    return fields;
  const { resourceRules, ...constraints } = spec.matchConstraints;
  const rules = Array.isArray(resourceRules) ? (resourceRules as unknown[]) : [];
  const matchConstraints = {
    matchPolicy: "Equivalent",
    namespaceSelector: {},
    objectSelector: {},
    ...constraints,
    resourceRules: rules.map((rule) => (isObject(rule) ? { scope: "*", ...rule } : rule)),
  };
  return { ...fields, spec: { ...spec, matchConstraints } };
}

/**
 * Returns the paths at which others changed an object, those that they added included; none when it is as foresail writes
 * it.
 */
export function editedPaths(object: NewObject, live: KubernetesObject): string[] {
  const [desired, found] = [storedFields(object), storedFields(live)];
  if (Object.keys(desired).length === 0 || isDeepStrictEqual(desired, found)) return [];
  const paths = differingPaths(desired, found).map(formatPath);
  // a value that looks like an unknown one of the engine has no path
  return paths.length > 0 ? paths : Object.keys(desired);
}

/** Returns the fields of a JSON merge patch that makes `live` the object again; undefined when it is. */
export function restoringFields(
  object: NewObject,
  live: KubernetesObject,
): Record<string, unknown> | undefined {
  if (editedPaths(object, live).length === 0) return undefined;
  return patchBetween(storedFields(live), storedFields(object));
}

function patchBetween(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
): Record<string, unknown> {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return Object.fromEntries(
    [...keys].flatMap((key) => {
      const [old, wanted] = [before[key], after[key]];
      if (isDeepStrictEqual(old, wanted)) return [];
      if (isObject(old) && isObject(wanted)) return [[key, patchBetween(old, wanted)]];
      return [[key, wanted ?? null]];
    }),
  );
}

/** One reading of an object: the object, undefined if it does not exist, or why it could not be read. */
export type KeptReading = { readonly live: KubernetesObject | undefined } | { readonly unread: string };

const isSame = (one: NewObject, other: NewObject) =>
  one.kind === other.kind && one.metadata.name === other.metadata.name;
const nameOf = ({ kind, metadata }: NewObject) => `${kind} ${metadata.name}`;

/** The longest reason in a step, in characters. */
const LONGEST_REASON = 300;
/** How many changed paths a step names. */
const MOST_PATHS = 5;

/**
 * Returns what a run does to the objects of a cluster, and which of them could not be compared.
 *
 * @param desired after this run
 * @param recorded in the state; empty before the first run
 * @param readings of the desired ones, in their order; undefined when there is no cluster to read yet, a text when it could
 *   not be read
 */
export function keptObjectSteps(
  desired: readonly NewObject[],
  recorded: readonly NewObject[],
  readings: readonly KeptReading[] | string | undefined,
): ReaderAccountStep[] {
  if (recorded.length === 0 || readings === undefined) return [];
  const steps: ReaderAccountStep[] = [];
  const unread: string[] = [];
  let why = "";
  for (const [index, object] of desired.entries()) {
    const of = { object: object.kind, name: object.metadata.name };
    const before = recorded.find((one) => isSame(one, object));
    const isChanged = !isDeepStrictEqual(before, object);
    const reading = typeof readings === "string" ? { unread: readings } : readings[index];
    if (reading === undefined || "unread" in reading) {
      unread.push(nameOf(object));
      why ||= reading?.unread ?? "";
    } else if (isChanged) {
      // the policy and the owner have lines of their own
      const hasLine = object.metadata.name === ANNOTATION_POLICY || isOwnerRecord(object);
      if (!hasLine && needsWrite(object, reading.live))
        steps.push({ kind: "write", how: reading.live ? "update" : "create", ...of });
    } else if (reading.live === undefined) steps.push({ kind: "restore", ...of, why: "deleted" });
    else {
      const paths = editedPaths(object, reading.live);
      if (paths.length > 0)
        steps.push({ kind: "restore", ...of, why: `edited: ${cutList(paths, ", ", MOST_PATHS)}` });
    }
  }
  if (unread.length === 0) return steps;
  return [
    ...steps,
    { kind: "unreadObjects", objects: unread.join(", "), why: printable(shortened(why, LONGEST_REASON)) },
  ];
}

const needsWrite = (object: NewObject, live: KubernetesObject | undefined) =>
  live === undefined || editedPaths(object, live).length > 0;
