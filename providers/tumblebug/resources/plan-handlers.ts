import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { isRefusal, type Tumblebug } from "../client";
import type { GroupFields } from "../plan/releases";
import { spreadLines, factKey, unmetTumblebug, type TumblebugFacts } from "../plan/requirements";
import { ReasonedError } from "../plan/reasons";
import { tumblebugPlanSteps } from "../plan/steps";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { report } from "../../../lib/pulumi/log";
import { carriesMark, markedBy } from "../../../lib/pulumi/marks";
import { isKnown } from "../../../lib/unknown";
import {
  OBJECT_KINDS,
  type FoundOnServer,
  type TumblebugPlanInputs as Inputs,
  type TumblebugPlanOutputs as Outputs,
} from "./declarations";
import { Described } from "./described";
import { IN_PREVIEW, withServer } from "./server";

/** Inputs that diff compares. The server's objects of names are left out, because they affect new objects only. */
const DESIRED = [
  "namespace",
  "createNamespace",
  "infrastructure",
  "connections",
  "slots",
  "loadBalancer",
  "allowMock",
  "objects",
] as const;

/** What servers say about the fields of VMs, by their addresses. */
const describedFields = new Described<GroupFields>();

const nameOf = ({ infrastructure }: Inputs) => `TumblebugPlan ${infrastructure}`;

const isSame = (olds: Partial<Inputs>, news: Inputs): boolean =>
  DESIRED.every((key) => isDeepStrictEqual(olds[key], news[key]));

export const handlers: Handlers = {
  async check(olds: Partial<Inputs>, { refusals, ...news }: Inputs) {
    if (refusals) return { inputs: news, failures: refusals };
    for (const line of [...news.steps, ...news.later, ...news.remarks]) report(nameOf(news), line);
    if (!isKnown(news)) return { inputs: news, failures: [] };
    const earlier =
      olds.found && olds.objects && olds.namespace === news.namespace
        ? { found: olds.found, objects: olds.objects, slots: olds.slots ?? [], isSame: isSame(olds, news) }
        : undefined;
    try {
      const { facts, found } = await withServer(
        nameOf(news),
        news.server,
        (tumblebug) => readPlanFacts(tumblebug, news, earlier),
        IN_PREVIEW,
      );
      const spread = spreadLines(news.slots, found.connections);
      for (const line of spread) report(nameOf(news), line);
      return { inputs: { ...news, found, spread }, failures: unmetTumblebug(news, facts) };
    } catch (error) {
      const { message, next } = error as Error & { next?: string };
      const code = error instanceof ReasonedError ? ` (${error.code})` : "";
      const reason = `${message}${code}${next === undefined ? "" : `\n  next: ${next}`}`;
      if (!earlier?.isSame) return { inputs: news, failures: [{ property: "tumblebug.address", reason }] };
      const { found } = earlier;
      const unchecked = { kind: "unchecked", what: "the server", why: message } as const;
      report(nameOf(news), tumblebugPlanSteps.format(unchecked));
      return { inputs: { ...news, found, spread: spreadLines(news.slots, found.connections) }, failures: [] };
    }
  },

  diff(_id, olds: Outputs, news: Inputs) {
    const changes = !isSame(olds, news) || !isDeepStrictEqual(olds.server, news.server);
    return Promise.resolve({ changes });
  },

  create: (inputs: Inputs) =>
    Promise.resolve({
      id: `${inputs.namespace}/${inputs.infrastructure}`,
      outs: { ...inputs, mark: inputs.mark ?? randomBytes(6).toString("hex") },
    }),

  update: (_id, olds: Outputs, news: Inputs) => Promise.resolve({ outs: { ...news, mark: olds.mark } }),
};

/** Names and results of an earlier run. */
interface EarlierPlan {
  objects: Inputs["objects"];
  found: FoundOnServer;
  slots: Inputs["slots"];
  /** Whether the inputs are the same; then only facts that may have changed are read. */
  isSame: boolean;
}

/** Reads all facts for the preflight from the server, in parallel. */
async function readPlanFacts(
  tumblebug: Tumblebug,
  desired: Inputs,
  before: EarlierPlan | undefined,
): Promise<{ facts: TumblebugFacts; found: FoundOnServer }> {
  const earlier = before?.isSame === true ? before.found : undefined;
  const { namespace: name, mark } = desired;
  const isOurs = (description: string) => mark !== undefined && carriesMark(description, mark);
  // A machine that an earlier run had keeps its machine type and image, which the cloud may have withdrawn since.
  const slots = earlier
    ? []
    : desired.slots.filter((slot) => !before?.slots.some((one) => isDeepStrictEqual(one, slot)));
  const [namespace, infrastructure, connections, specs, images, objects, groupFields] = await Promise.all([
    tumblebug.namespaces.read(name),
    tumblebug.infrastructures.read(name, desired.infrastructure).catch((error: unknown) => {
      // A server that does not answer, or not to this user, fails the other reads too.
      throw isRefusal(error, "Refused") ? ReasonedError.from("GetMCISFailedReason", error) : error;
    }),
    earlier?.connections ??
      byKey(desired.connections.map((one) => [one.name, () => readConnection(tumblebug, one.name)])),
    byKey(
      slots.map(({ connection, spec }) => [
        factKey(connection, spec),
        () => tumblebug.lookupSpec(connection, spec),
      ]),
    ),
    byKey(
      slots.map(({ connection, image }) => [
        factKey(connection, image),
        async () => (await tumblebug.lookupImage(connection, image)) !== undefined,
      ]),
    ),
    earlier ? [] : readObjects(tumblebug, desired),
    earlier ? undefined : describedFields.of(desired.server.address, () => tumblebug.readGroupFields()),
  ]);
  const facts: TumblebugFacts = {
    namespaceExists: namespace !== undefined,
    connections,
    specs,
    images,
    groupFields,
    vNets: objects.flatMap(({ object }) =>
      "cidr" in object ? { ...object, isOurs: isOurs(object.description) } : [],
    ),
    ...(infrastructure
      ? {
          infrastructure: {
            status: infrastructure.status,
            isOurs: isOurs(infrastructure.description),
            madeBy: markedBy(infrastructure.description),
          },
        }
      : {}),
  };
  const foreign = () =>
    objects.flatMap(({ kind, object: { name, description }, isTagged }) => {
      const key = `${kind}/${name}`;
      return (isTagged ? isOurs(description) : wasMissing(before, key)) ? [] : key;
    });
  const found: FoundOnServer = {
    generation: tumblebug.generation,
    connections: Object.fromEntries(
      Object.entries(connections).flatMap(([name, to]) => (to === undefined ? [] : [[name, to]])),
    ),
    foreign: earlier?.foreign ?? foreign(),
    namespaceIsForeign:
      earlier?.namespaceIsForeign ?? (namespace !== undefined && !isOurs(namespace.description)),
  };
  return { facts, found };
}

/** Reads a value once for each key, in parallel. */
async function byKey<Value>(
  reads: readonly (readonly [key: string, read: () => Promise<Value>])[],
): Promise<Record<string, Value>> {
  const entries = [...new Map(reads)].map(async ([key, read]) => [key, await read()] as const);
  return Object.fromEntries(await Promise.all(entries));
}

async function readConnection(tumblebug: Tumblebug, name: string) {
  const connection = await tumblebug.readConnection(name);
  if (!connection) return undefined;
  const { provider, regionName: missingRegion } = connection;
  const at = await tumblebug.readRegion(connection);
  return { provider, ...(at ?? { region: "", zone: "", missingRegion }) };
}

/** Returns whether an earlier run found an object missing; if it exists now, this stack created it. */
function wasMissing(before: EarlierPlan | undefined, key: string): boolean {
  if (!before || before.found.foreign.includes(key)) return false;
  return OBJECT_KINDS.some((kind) => before.objects[kind].some(({ name }) => key === `${kind}/${name}`));
}

async function readObjects(tumblebug: Tumblebug, { namespace, objects }: Inputs) {
  const found = OBJECT_KINDS.map(async (kind) => {
    const calls = tumblebug[kind];
    const names = objects[kind].map(({ name }) => name);
    const all = (await calls?.named(namespace, names)) ?? [];
    return all.map((object) => ({ kind, object, isTagged: calls?.keepsDescription === true }));
  });
  return (await Promise.all(found)).flat();
}
