import { INITIALIZED_KEY } from "../plan/machine";
import type { CloudFacts, Named, Quota, VolumeFacts } from "../plan/cloud-facts";
import type { Cloud } from "./cloud";
import { readChangedObjects, type RecordedServers, type Server } from "./changed-objects";
import { CloudRefusal } from "./errors";

/** An image in Glance's list. */
interface Image {
  id: string;
  name: string | null;
  status: string;
  /** GiB */
  min_disk: number;
  min_ram: number;
  /** Size of the image file in bytes; absent before the upload. */
  size?: number | null;
  /** Virtual disk size in bytes; absent if the cloud has not inspected the image. */
  virtual_size?: number | null;
}

type Flavor = CloudFacts["flavors"][number];

interface Zone {
  zoneName: string;
  zoneState: { available: boolean };
}

/** What the facts of a run depend on. */
interface AskedFacts extends RecordedServers {
  /** Regular expression that the names of the cluster's servers match. */
  servers: string;
  /** Images and flavors of new servers, by name or id. */
  images: readonly string[];
  flavors: readonly string[];
  /** Whether the run creates objects of Neutron. */
  newNetworkObjects: boolean;
}

/**
 * Reads the facts for a run's preflight: seven calls in parallel, two more for root volumes, and one for each server in
 * state ERROR, for each recorded server under another name, and for each image and flavor that no list has.
 */
export async function readCloudFacts(cloud: Cloud, desired: AskedFacts): Promise<CloudFacts> {
  const names = encodeURIComponent(desired.servers);
  const [flavors, images, zones, externalNetworks, servers, limits, network, volumes, ...others] =
    await Promise.all([
      withUnlisted(
        cloud.list<Flavor>("compute", "/flavors/detail", "flavors"),
        desired.flavors,
        async (id) => (await cloud.call("compute", "GET", `/flavors/${id}`)).flavor as Flavor,
      ),
      withUnlisted(
        cloud.list<Image>("image", "/images?limit=500", "images"),
        desired.images,
        async (id) => (await cloud.call("image", "GET", `/images/${id}`)) as unknown as Image,
      ),
      cloud.list<Zone>("compute", "/os-availability-zone", "availabilityZoneInfo"),
      cloud.list<Named>("network", "/networks?router:external=true", "networks"),
      cloud.list<Server>("compute", `/servers/detail?name=${names}`, "servers"),
      cloud.call("compute", "GET", "/limits"),
      desired.newNetworkObjects ? networkQuota(cloud) : undefined,
      desired.withRootVolume.length > 0 ? readVolumeFacts(cloud) : undefined,
      cloud.has("load-balancer"),
      cloud.has("block-storage"),
    ]);
  const [hasLoadBalancer, hasVolumes] = others;
  const { absolute } = limits.limits as { absolute: Record<string, number> };
  const quota = (limit: string, used: string) => ({
    limit: absolute[limit] ?? -1,
    used: absolute[used] ?? 0,
  });
  const neverReady = servers.filter(
    ({ status, metadata }) => status === "ERROR" && metadata?.[INITIALIZED_KEY] !== "true",
  );
  return {
    ...(await readChangedObjects(cloud, desired, servers)),
    flavors,
    images: images.map(({ id, name, status, min_disk, min_ram, size, virtual_size }) => ({
      id,
      name: name ?? "",
      status,
      minRam: min_ram,
      // The declared minimum or the actual size, whichever is larger.
      minDisk: Math.max(min_disk, Math.ceil(Math.max(size ?? 0, virtual_size ?? 0) / 2 ** 30)),
    })),
    zones: zones.map(({ zoneName, zoneState }) => ({ name: zoneName, available: zoneState.available })),
    externalNetworks,
    servers: servers.map(({ name }) => name),
    ...(await recordedServers(cloud, desired.serverIds, servers)),
    failed: await Promise.all(
      neverReady.map(async ({ id, name }) => ({ id, name, reason: await serverFault(cloud, id) })),
    ),
    compute: {
      instances: quota("maxTotalInstances", "totalInstancesUsed"),
      cores: quota("maxTotalCores", "totalCoresUsed"),
      ram: quota("maxTotalRAMSize", "totalRAMUsed"),
      serverGroups: quota("maxServerGroups", "totalServerGroupsUsed"),
    },
    network,
    volumes,
    hasLoadBalancer,
    hasVolumes,
    isRestricted: (await cloud.token()).application_credential?.restricted ?? false,
  };
}

/** Adds to a list what only a call by id finds: hidden images, images of the community, disabled flavors. */
async function withUnlisted<Item extends { id: string; name: string | null }>(
  list: Promise<Item[]>,
  words: readonly string[],
  read: (id: string) => Promise<Item>,
): Promise<Item[]> {
  const items = await list;
  const unlisted = words.filter((word) => items.every(({ id, name }) => id !== word && name !== word));
  const found = unlisted.map((word) => ifAllowed(() => read(encodeURIComponent(word))));
  return [...items, ...(await Promise.all(found)).filter((item) => item !== undefined)];
}

/** Returns machine name → status and metadata of its recorded server; undefined if the cloud does not have it. */
async function recordedServers(
  cloud: Cloud,
  serverIds: Readonly<Record<string, string>>,
  listed: readonly Server[],
): Promise<Pick<CloudFacts, "recorded" | "metadata">> {
  const found = await Promise.all(
    Object.entries(serverIds).map(async ([name, id]) => {
      const server = listed.find((each) => each.id === id) ?? (await readServer(cloud, id));
      return [name, server] as const;
    }),
  );
  return {
    recorded: Object.fromEntries(found.map(([name, server]) => [name, server?.status])),
    metadata: Object.fromEntries(found.map(([name, server]) => [name, server && (server.metadata ?? {})])),
  };
}

/** Returns a server, also one that was renamed; undefined if there is none. */
export async function readServer(cloud: Cloud, id: string): Promise<Server | undefined> {
  try {
    return (await cloud.call("compute", "GET", `/servers/${id}`)).server as Server;
  } catch (error) {
    if (error instanceof CloudRefusal && error.status === 404) return undefined;
    throw error;
  }
}

/** Reads what a project may be forbidden to read. Returns undefined in that case. */
async function ifAllowed<Value>(read: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof CloudRefusal) return undefined;
    throw error;
  }
}

/** Reads the project's quotas for objects of Neutron. Returns undefined if the project may not read them. */
function networkQuota(cloud: Cloud): Promise<CloudFacts["network"]> {
  return ifAllowed(async () => {
    const { tenant } = await cloud.call("network", "GET", "/quotas/tenant");
    const project = (tenant as { tenant_id: string }).tenant_id;
    const { quota } = await cloud.call("network", "GET", `/quotas/${project}/details.json`);
    type Usage = Quota & { reserved?: number };
    const usages = Object.entries(quota as Record<string, Usage>).map(
      ([key, { limit, used, reserved = 0 }]) => [key, { limit, used: used + reserved }],
    );
    return Object.fromEntries(usages) as Record<string, Quota>;
  });
}

/** Reads volume types and quotas. Returns undefined if the cloud has no block-storage service. */
async function readVolumeFacts(cloud: Cloud): Promise<VolumeFacts | undefined> {
  if (!(await cloud.has("block-storage"))) return undefined;
  const [types, quota] = await Promise.all([
    cloud.list<Named>("block-storage", "/types", "volume_types"),
    ifAllowed(() => volumeQuota(cloud)),
  ]);
  return { types, ...(quota ? { quota } : {}) };
}

/** Reads the project's quotas for volumes, in total and by type. Returns undefined without a project. */
async function volumeQuota(cloud: Cloud): Promise<Record<string, Quota> | undefined> {
  const { project } = await cloud.token();
  if (project === undefined) return undefined;
  const { quota_set } = await cloud.call("block-storage", "GET", `/os-quota-sets/${project.id}?usage=true`);
  type Usage = { limit: number; in_use: number; reserved: number };
  const usages = Object.entries(quota_set as Record<string, string | Usage>).flatMap(([key, usage]) =>
    typeof usage === "string" ? [] : [[key, { limit: usage.limit, used: usage.in_use + usage.reserved }]],
  );
  return Object.fromEntries(usages) as Record<string, Quota>;
}

/** Sets some keys of a server's metadata and keeps the others. */
export async function setServerMetadata(
  cloud: Cloud,
  server: string,
  metadata: Readonly<Record<string, string>>,
): Promise<void> {
  await cloud.call("compute", "POST", `/servers/${server}/metadata`, { metadata });
}

/**
 * Reads the public host keys that cloud-init printed on a server's console at first boot. None if the last 500 lines of
 * the console do not have all of them.
 *
 * @throws CloudRefusal if the cloud provides no console output
 */
export async function readConsoleHostKeys(cloud: Cloud, server: string): Promise<string[]> {
  const { output } = await cloud.call("compute", "POST", `/servers/${server}/action`, {
    "os-getConsoleOutput": { length: 500 },
  });
  return typeof output === "string" ? consoleHostKeys(output) : [];
}

/** Returns the host keys between cloud-init's markers on a console: "ssh-ed25519 AAAA…", without comments. */
export function consoleHostKeys(log: string): string[] {
  const boots = log.split("-----BEGIN SSH HOST KEY KEYS-----").slice(1);
  const [keys = "", after] = boots.at(-1)?.split("-----END SSH HOST KEY KEYS-----") ?? [];
  if (after === undefined) return [];
  // The kernel or a log daemon may add a prefix to each line.
  return keys
    .split("\n")
    .flatMap((line) => /(ssh-\S+|ecdsa-\S+) AAAA[A-Za-z0-9+/]+={0,3}/.exec(line)?.[0] ?? []);
}

/** Returns the existing servers with these names. */
export async function listServers(
  cloud: Cloud,
  names: readonly string[],
): Promise<Pick<Server, "id" | "name" | "status">[]> {
  if (names.length === 0) return [];
  const path = `/servers/detail?name=${encodeURIComponent(`^(${names.join("|")})$`)}`;
  const found = await cloud.list<Server>("compute", path, "servers");
  return found.filter(({ name }) => names.includes(name));
}

/** Returns why a server is in state ERROR, as a sentence. Lists of servers do not contain the reason. */
export async function serverFault(cloud: Cloud, id: string): Promise<string> {
  const { server } = await cloud.call("compute", "GET", `/servers/${id}`);
  const { fault } = (server ?? {}) as { fault?: { message?: string } };
  return (fault?.message ?? "the cloud gives no reason").replace(/\.?$/, ".");
}
