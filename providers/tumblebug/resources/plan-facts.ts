import type { Tumblebug } from "../client";
import { carriesMark } from "../../../lib/pulumi/marks";
import {
  factKey,
  type ConnectionFacts,
  type TumblebugFacts,
  type DesiredTumblebug,
} from "../plan/requirements";
import type { CloudSpec } from "../plan/model";
import { OBJECT_KINDS, type FoundOnServer, type TumblebugPlanInputs } from "./plan";

interface DesiredPlan extends DesiredTumblebug, Pick<TumblebugPlanInputs, "objects" | "mark"> {}

/** Names and results of an earlier run. */
interface EarlierPlan {
  objects: DesiredPlan["objects"];
  found: FoundOnServer;
  /** Whether the inputs are the same; then only facts that may have changed are read. */
  isSame: boolean;
}

/** Reads all facts for the preflight from the server, in parallel. */
export async function readPlanFacts(
  tumblebug: Tumblebug,
  desired: DesiredPlan,
  before: EarlierPlan | undefined,
): Promise<{ facts: TumblebugFacts; found: FoundOnServer }> {
  const earlier = before?.isSame === true ? before.found : undefined;
  const isOurs = (description: string) =>
    desired.mark !== undefined && carriesMark(description, desired.mark);
  const [namespace, infrastructure, connections, specs, images, objects] = await Promise.all([
    tumblebug.namespaces.read(desired.namespace),
    tumblebug.infrastructures.read(desired.namespace, desired.infrastructure),
    earlier ? earlier.connections : readConnections(tumblebug, desired),
    earlier ? {} : readSpecs(tumblebug, desired),
    earlier ? {} : readImages(tumblebug, desired),
    earlier ? undefined : readObjects(tumblebug, desired),
  ]);
  const facts: TumblebugFacts = {
    namespaceExists: namespace !== undefined,
    connections,
    specs,
    images,
    vNets: (objects?.vNets ?? []).map(({ description, ...vNet }) => ({
      ...vNet,
      isOurs: isOurs(description),
    })),
    ...(infrastructure
      ? { infrastructure: { status: infrastructure.status, isOurs: isOurs(infrastructure.description) } }
      : {}),
  };
  const found: FoundOnServer = {
    generation: tumblebug.generation,
    connections: Object.fromEntries(
      Object.entries(connections).flatMap(([name, to]) => (to === undefined ? [] : [[name, to]])),
    ),
    foreign:
      earlier?.foreign ??
      (objects?.all ?? [])
        .filter(({ key, description, isTagged }) =>
          isTagged ? !isOurs(description) : !wasMissing(before, key),
        )
        .map(({ key }) => key),
    namespaceIsForeign:
      earlier?.namespaceIsForeign ?? (namespace !== undefined && !isOurs(namespace.description)),
  };
  return { facts, found };
}

async function byKey<Value>(
  keys: Iterable<string>,
  read: (key: string) => Promise<Value>,
): Promise<Record<string, Value>> {
  const entries = await Promise.all([...new Set(keys)].map(async (key) => [key, await read(key)] as const));
  return Object.fromEntries(entries);
}

const readConnections = (tumblebug: Tumblebug, { connections }: DesiredTumblebug) =>
  byKey(
    connections.map(({ name }) => name),
    async (name): Promise<ConnectionFacts | undefined> => {
      const connection = await tumblebug.readConnection(name);
      if (!connection) return undefined;
      const { region, zone } = await tumblebug.readRegion(connection);
      return { provider: connection.provider, region, zone };
    },
  );

async function readSpecs(tumblebug: Tumblebug, { slots }: DesiredTumblebug) {
  const wanted = new Map(
    slots.map(({ connection, spec }) => [factKey(connection, spec), { connection, spec }]),
  );
  return byKey<CloudSpec | undefined>(wanted.keys(), async (key) => {
    const { connection, spec } = wanted.get(key)!;
    return tumblebug.lookupSpec(connection, spec);
  });
}

/** Looks up images, except for `mcis`, which registers images without a lookup and does not find every usable one. */
async function readImages(tumblebug: Tumblebug, { slots }: DesiredTumblebug) {
  if (tumblebug.generation === "mcis") return {};
  const wanted = new Map(
    slots.map(({ connection, image }) => [factKey(connection, image), { connection, image }]),
  );
  return byKey(wanted.keys(), async (key) => {
    const { connection, image } = wanted.get(key)!;
    return (await tumblebug.lookupImage(connection, image)) !== undefined;
  });
}

/** Returns whether an earlier run found an object missing; if it exists now, this stack created it. */
function wasMissing(before: EarlierPlan | undefined, key: string): boolean {
  if (!before || before.found.foreign.includes(key)) return false;
  return OBJECT_KINDS.some((kind) => before.objects[kind].some(({ name }) => key === `${kind}/${name}`));
}

/** Reads the existing objects with the desired names, of any owner. */
async function readObjects(tumblebug: Tumblebug, desired: DesiredPlan) {
  const found = await Promise.all(
    OBJECT_KINDS.map(async (kind) => {
      const objects = tumblebug[kind];
      if (!objects) return [];
      const names = desired.objects[kind].map(({ name }) => name);
      const there = await objects.named(desired.namespace, names);
      return there.map((object) => ({ kind, object, isTagged: objects.keepsDescription }));
    }),
  );
  const all = found.flat();
  return {
    all: all.map(({ kind, object: { name, description }, isTagged }) => ({
      ...{ key: `${kind}/${name}`, description, isTagged },
    })),
    vNets: all.flatMap(({ kind, object }) =>
      kind === "vNets" && "cidr" in object
        ? [
            {
              name: object.name,
              connection: object.connection,
              cidr: object.cidr,
              description: object.description,
            },
          ]
        : [],
    ),
  };
}
