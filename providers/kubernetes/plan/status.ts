import { isDeepStrictEqual } from "node:util";
import { type FieldPath, fieldAt } from "./fields";

/** The desired status of an object, as its controller writes it. */
export interface DesiredStatus {
  /** Output name → field that must have a value: {clientId: "status.clientId"}. */
  fields?: Record<string, FieldPath>;
  /** Required conditions; the default status is "True". */
  conditions?: { type: string; status?: string }[];
  /** Fields that must have exactly this value: {path: "status.phase", value: "Active"}. */
  equals?: { path: FieldPath; value: unknown }[];
  /** Fields that end the wait at once: with this value, or with any value if none is given. */
  failures?: { path: FieldPath; value?: unknown }[];
  /** Fields whose text explains a failure or a long wait: ["status.failureMessage"]. */
  messages?: FieldPath[];
}

/** The verdict on an object's status: the values of its fields, the pending condition, or why it failed. */
type StatusJudgment = { done: Record<string, unknown> } | { pending: string } | { failed: string };

/** The fields of an object that its status verdict needs. */
export interface ObservedObject {
  metadata?: { generation?: unknown };
  status?: unknown;
  [field: string]: unknown;
}

/** A condition as controllers write it. */
export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  /** of Cluster API's v1beta1 while the status is False: "Error", "Warning" or "Info" */
  severity?: string;
}

/** Returns a condition's reason and message on one line: "WaitingForData: no data yet"; "" without either. */
export const reasonOf = ({ reason, message }: Pick<Condition, "reason" | "message">): string =>
  [reason, message?.replace(/\s+/g, " ").trim()].filter(Boolean).join(": ");

/**
 * Evaluates an object's status. Ignores what its controller wrote about an older generation, if the controller reports
 * the generation (`status.observedGeneration`, or a condition's own).
 */
export function judgeStatus(object: ObservedObject, desired: DesiredStatus): StatusJudgment {
  const words = explain(object, desired);
  for (const { path, value } of desired.failures ?? []) {
    const found = fieldAt(object, path);
    if (value === undefined ? isSet(found) : isDeepStrictEqual(found, value))
      return { failed: `${path} is ${show(found)}${words}` };
  }
  if (!expectsSomething(desired)) return { done: {} };
  const generation = asNumber(object.metadata?.generation);
  const observed = asNumber(fieldAt(object, "status.observedGeneration"));
  if (isOlder(observed, generation))
    return { pending: `its controller has seen generation ${observed} of ${generation}` };
  const missing = [
    ...Object.values(desired.fields ?? {})
      .filter((path) => !isSet(fieldAt(object, path)))
      .map((path) => `${path} is not there yet`),
    ...(desired.equals ?? []).flatMap(({ path, value }) => {
      const found = fieldAt(object, path);
      return isDeepStrictEqual(found, value) ? [] : [`${path} is ${show(found)}, not ${show(value)} yet`];
    }),
    ...(desired.conditions ?? []).flatMap(({ type, status = "True" }) =>
      conditionFault(object, type, status, generation),
    ),
  ];
  if (missing.length > 0) return { pending: missing.join("; ") + words };
  const values = Object.entries(desired.fields ?? {}).map(([name, path]) => [name, fieldAt(object, path)]);
  return { done: Object.fromEntries(values) as Record<string, unknown> };
}

/** Returns whether there is anything to wait for; failures alone only end a wait. */
export function expectsSomething({ fields = {}, conditions = [], equals = [] }: DesiredStatus): boolean {
  return Object.keys(fields).length + conditions.length + equals.length > 0;
}

function conditionFault(
  object: ObservedObject,
  type: string,
  status: string,
  generation: number | undefined,
): string[] {
  const list = fieldAt(object, "status.conditions");
  const conditions = (Array.isArray(list) ? list : []) as (Condition & { observedGeneration?: number })[];
  const found = conditions.find((condition) => condition.type === type);
  if (found === undefined) return [`condition ${type} is not there yet`];
  if (isOlder(found.observedGeneration, generation)) return [`condition ${type} is of an older generation`];
  const why = reasonOf(found);
  return found.status === status
    ? []
    : [`condition ${type} is ${found.status}${why === "" ? "" : ` (${why})`}`];
}

function explain(object: ObservedObject, { messages = [] }: DesiredStatus): string {
  const found = messages.map((path) => fieldAt(object, path)).filter(isSet);
  return found.length === 0 ? "" : `: ${found.map(show).join("; ")}`;
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

function isOlder(observed: number | undefined, generation: number | undefined): boolean {
  return observed !== undefined && generation !== undefined && observed < generation;
}

/** Returns a value if it is a number. */
export const asNumber = (value: unknown) => (typeof value === "number" ? value : undefined);

function show(value: unknown): string {
  if (value === undefined) return "absent";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A condition for adopting an object that this stack did not create. */
export interface Precondition {
  path: FieldPath;
  value: unknown;
  /** why it is refused otherwise, and how to fix it */
  otherwise: string;
}

/** Returns why an object is refused; undefined when it may be adopted. */
export function preconditionFault(
  object: unknown,
  preconditions: readonly Precondition[] = [],
): string | undefined {
  return preconditions.find(({ path, value }) => !isDeepStrictEqual(fieldAt(object, path), value))?.otherwise;
}

/** Returns the message for a required object that does not exist. @param others names of the existing ones */
export function missingObject(name: string, kind: string, others: readonly string[]): string {
  const there = others.length === 0 ? `there is no ${kind} at all` : `there are ${others.join(", ")}`;
  return `${name} does not exist; ${there}`;
}

/** A field that an object must have. */
export interface RequiredField {
  /** `[*]` means every entry of a list, which may be empty or missing: "spec.values.nodeGroups[*].machineFlavor" */
  path: FieldPath;
  /** what needs it, where that is not obvious: "a cluster with a lease" */
  neededBy?: string;
}

const EVERY = "[*]";

/**
 * Returns the missing fields of an object as text: "spec.image", "spec.groups[0].size, which a cluster with a lease
 * needs".
 */
export function missingFields(object: unknown, required: readonly RequiredField[]): string[] {
  return required.flatMap(({ path, neededBy }) =>
    eachPath(object, path)
      .filter((each) => (fieldAt(object, each) ?? "") === "")
      .map((each) => (neededBy === undefined ? each : `${each}, which ${neededBy} needs`)),
  );
}

function eachPath(object: unknown, path: FieldPath): FieldPath[] {
  const at = path.indexOf(EVERY);
  if (at === -1) return [path];
  const list = fieldAt(object, path.slice(0, at));
  if (!Array.isArray(list)) return [];
  return list.flatMap((_, index) =>
    eachPath(object, `${path.slice(0, at)}[${index}]${path.slice(at + EVERY.length)}`),
  );
}
