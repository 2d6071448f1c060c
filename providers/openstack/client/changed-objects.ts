import { OBJECT_KINDS } from "../plan/leftovers";
import type { CloudFacts, RecordedObject } from "../plan/cloud-facts";
import type { Cloud } from "./cloud";
import { CloudRefusal } from "./errors";

/** A server in Nova's detailed list. */
export interface Server {
  id: string;
  name: string;
  /** Nova's status, such as "BUILD", "ACTIVE" and "ERROR". */
  status: string;
  metadata?: Readonly<Record<string, string>>;
  "os-extended-volumes:volumes_attached"?: readonly { id: string }[];
}

/** What a stack's state has of its servers. */
export interface RecordedServers {
  cluster: string;
  /** Machine name → id of its server. */
  serverIds: Readonly<Record<string, string>>;
  /** Objects of Neutron. */
  networkObjects: readonly RecordedObject[];
  /** Machines with a root volume. */
  withRootVolume: readonly string[];
}

/** Number of ids in the query of one call: servers limit the length of a URL. */
const IDS_OF_A_CALL = 50;

/** Reads which recorded objects the cloud no longer has, and which servers have lost their port or root volume. */
export async function readChangedObjects(
  cloud: Cloud,
  { cluster, networkObjects, serverIds, withRootVolume }: RecordedServers,
  servers: readonly Server[],
): Promise<Pick<CloudFacts, "gone" | "detached" | "withoutVolume">> {
  const kinds = [...new Set(networkObjects.map(({ kind }) => kind))];
  const found = new Map(
    (await Promise.all(kinds.map((kind) => networkObjectsOf(cloud, kind, networkObjects)))).flat(),
  );
  const detached = Object.entries(serverIds).flatMap(([name, server]) => {
    const port = networkObjects.find(
      (each) => each.kind === "port" && each.name === `${cluster}-${name}`,
    )?.id;
    const user = port === undefined ? undefined : found.get(port);
    return port === undefined || user === undefined || user === server ? [] : [[name, { port, server }]];
  });
  const withoutVolume = withRootVolume.map(async (name) => {
    const server = servers.find(({ id }) => id === serverIds[name]);
    const volumes = server?.["os-extended-volumes:volumes_attached"];
    if (volumes === undefined || server?.status === "BUILD") return [];
    const [first] = volumes;
    return first !== undefined && (await hasVolume(cloud, first.id)) ? [] : [name];
  });
  return {
    gone: networkObjects.filter(({ id }) => !found.has(id)),
    detached: Object.fromEntries(detached) as CloudFacts["detached"],
    withoutVolume: (await Promise.all(withoutVolume)).flat(),
  };
}

/** Returns which recorded objects of a kind the cloud has: their ids, each with that of the server that has the port. */
async function networkObjectsOf(
  cloud: Cloud,
  kind: RecordedObject["kind"],
  recorded: readonly RecordedObject[],
): Promise<[id: string, user: string][]> {
  const [service, path] = OBJECT_KINDS[kind];
  const ids = recorded.flatMap((object) => (object.kind === kind ? [object.id] : []));
  const key = path.slice(1).replaceAll("-", "_");
  const calls = Array.from({ length: Math.ceil(ids.length / IDS_OF_A_CALL) }, (_, call) => {
    const some = ids.slice(call * IDS_OF_A_CALL, (call + 1) * IDS_OF_A_CALL);
    const query = some.map((id) => `id=${encodeURIComponent(id)}`).join("&");
    return cloud.list<{ id: string; device_id?: string }>(service, `${path}?${query}`, key);
  });
  return (await Promise.all(calls)).flat().map(({ id, device_id = "" }) => [id, device_id]);
}

/** Returns whether Cinder has a volume; also true if the project may not read it. */
async function hasVolume(cloud: Cloud, id: string): Promise<boolean> {
  if (!(await cloud.has("block-storage"))) return true;
  try {
    await cloud.call("block-storage", "GET", `/volumes/${encodeURIComponent(id)}`);
  } catch (error) {
    if (error instanceof CloudRefusal) return error.status !== 404;
    throw error;
  }
  return true;
}
