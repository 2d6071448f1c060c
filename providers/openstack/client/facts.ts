import { INITIALIZED_KEY } from "../plan/machine";
import type { CloudFacts } from "../plan/requirements";
import type { Quota } from "../plan/unmet-requirement";
import type { VolumeFacts } from "../plan/volume-requirements";
import type { Cloud } from "./cloud";
import { CloudRefusal } from "./errors";

/**
 * Reads the facts for a run's preflight: eight calls in parallel, two more for root volumes, and one for each server in
 * state ERROR.
 */
export async function readCloudFacts(
  cloud: Cloud,
  desired: { servers: string; floatingIps: number; rootVolumes: boolean },
): Promise<CloudFacts> {
  const [
    flavors,
    images,
    zones,
    networks,
    servers,
    failed,
    limits,
    floatingIps,
    hasLoadBalancer,
    hasVolumes,
    isRestricted,
    volumes,
  ] = await Promise.all([
    cloud.list<Flavor>("compute", "/flavors/detail", "flavors"),
    cloud.list<Image>("image", "/images?limit=500", "images"),
    cloud.list<Zone>("compute", "/os-availability-zone", "availabilityZoneInfo"),
    cloud.list<Network>("network", "/networks?router:external=true", "networks"),
    cloud.list<{ name: string }>(
      "compute",
      `/servers?name=${encodeURIComponent(desired.servers)}`,
      "servers",
    ),
    cloud.list<FailedServer>(
      "compute",
      `/servers/detail?status=ERROR&name=${encodeURIComponent(desired.servers)}`,
      "servers",
    ),
    cloud.call("compute", "GET", "/limits"),
    desired.floatingIps === 0 ? undefined : floatingIpQuota(cloud),
    cloud.has("load-balancer"),
    cloud.has("block-storage"),
    cloud.isRestricted(),
    desired.rootVolumes ? readVolumeFacts(cloud) : undefined,
  ]);
  const absolute = (limits.limits as { absolute: Record<string, number> }).absolute;
  const quota = (limit: string, used: string) => ({
    limit: absolute[limit] ?? -1,
    used: absolute[used] ?? 0,
  });
  return {
    flavors: flavors.map(({ id, name, vcpus, ram, disk }) => ({ id, name, vcpus, ram, disk })),
    images: images.map((image) => ({
      id: image.id,
      name: image.name ?? "",
      status: image.status,
      minDisk: smallestDisk(image),
      minRam: image.min_ram,
    })),
    zones: zones.map(({ zoneName, zoneState }) => ({ name: zoneName, available: zoneState.available })),
    externalNetworks: networks.map(({ id, name }) => ({ id, name })),
    servers: servers.map(({ name }) => name),
    failed: await Promise.all(
      failed
        .filter(({ status, metadata }) => status === "ERROR" && metadata?.[INITIALIZED_KEY] !== "true")
        .map(async ({ id, name }) => ({ id, name, reason: await serverFault(cloud, id) })),
    ),
    compute: {
      instances: quota("maxTotalInstances", "totalInstancesUsed"),
      cores: quota("maxTotalCores", "totalCoresUsed"),
      ram: quota("maxTotalRAMSize", "totalRAMUsed"),
    },
    ...(floatingIps ? { floatingIps } : {}),
    hasLoadBalancer,
    hasVolumes,
    isRestricted,
    ...(volumes ? { volumes } : {}),
  };
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

/** Reads the project's quota for floating IPs. Returns undefined if the project may not read it. */
function floatingIpQuota(cloud: Cloud): Promise<Quota | undefined> {
  return ifAllowed(async () => {
    const { tenant } = await cloud.call("network", "GET", "/quotas/tenant");
    const project = (tenant as { tenant_id: string }).tenant_id;
    const { quota } = await cloud.call("network", "GET", `/quotas/${project}/details.json`);
    const { limit, used } = (quota as { floatingip: Quota }).floatingip;
    return { limit, used };
  });
}

/** Reads volume types and quotas. Returns undefined if the cloud has no block-storage service. */
async function readVolumeFacts(cloud: Cloud): Promise<VolumeFacts | undefined> {
  if (!(await cloud.has("block-storage"))) return undefined;
  const [types, quota] = await Promise.all([
    cloud.list<{ id: string; name: string }>("block-storage", "/types", "volume_types"),
    ifAllowed(() => volumeQuota(cloud)),
  ]);
  return { types: types.map(({ id, name }) => ({ id, name })), ...(quota ? { quota } : {}) };
}

/** Reads the project's quotas for volumes, in total and by type. Returns undefined without a project. */
async function volumeQuota(cloud: Cloud): Promise<Record<string, Quota> | undefined> {
  const project = await cloud.project();
  if (project === undefined) return undefined;
  const path = `/os-quota-sets/${project}?usage=true`;
  const { quota_set: set } = await cloud.call("block-storage", "GET", path);
  return Object.fromEntries(
    Object.entries(set as Record<string, string | QuotaUsage>).flatMap(([key, usage]) =>
      typeof usage === "string"
        ? []
        : [[key, { limit: usage.limit, used: usage.in_use + usage.reserved }] as const],
    ),
  );
}

interface QuotaUsage {
  limit: number;
  in_use: number;
  /** Reserved by operations in progress. */
  reserved: number;
}

interface Flavor {
  id: string;
  name: string;
  vcpus: number;
  ram: number;
  disk: number;
}

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

/** Returns the smallest disk for an image in GiB: its declared minimum or its actual size, whichever is larger. */
function smallestDisk({ min_disk, size, virtual_size }: Image): number {
  return Math.max(min_disk, Math.ceil(Math.max(size ?? 0, virtual_size ?? 0) / 2 ** 30));
}

interface FailedServer {
  id: string;
  name: string;
  status: string;
  metadata?: Readonly<Record<string, string>>;
}

interface Zone {
  zoneName: string;
  zoneState: { available: boolean };
}

interface Network {
  id: string;
  name: string;
}

/** Sets some keys of a server's metadata and keeps the others. */
export async function setServerMetadata(
  cloud: Cloud,
  server: string,
  metadata: Readonly<Record<string, string>>,
): Promise<void> {
  await cloud.call("compute", "POST", `/servers/${server}/metadata`, { metadata });
}

/** Reads a server's metadata. */
export async function serverMetadata(cloud: Cloud, server: string): Promise<Record<string, string>> {
  const { metadata } = await cloud.call("compute", "GET", `/servers/${server}/metadata`);
  return (metadata ?? {}) as Record<string, string>;
}

/** Reads the last 500 lines of a server's console. @throws CloudRefusal if the cloud provides no console output */
export async function consoleOutput(cloud: Cloud, server: string): Promise<string> {
  const { output } = await cloud.call("compute", "POST", `/servers/${server}/action`, {
    "os-getConsoleOutput": { length: 500 },
  });
  return typeof output === "string" ? output : "";
}

/** A server in a list. */
interface ListedServer {
  id: string;
  name: string;
  /** Nova's status, such as "BUILD", "ACTIVE" and "ERROR". */
  status: string;
}

/** Returns the existing servers with these names. */
export async function listServers(cloud: Cloud, names: readonly string[]): Promise<ListedServer[]> {
  if (names.length === 0) return [];
  const path = `/servers/detail?name=${encodeURIComponent(`^(${names.join("|")})$`)}`;
  const found = await cloud.list<ListedServer>("compute", path, "servers");
  return found
    .filter(({ name }) => names.includes(name))
    .map(({ id, name, status }) => ({ id, name, status }));
}

/** Returns why a server is in state ERROR, as a sentence. Lists of servers do not contain the reason. */
export async function serverFault(cloud: Cloud, id: string): Promise<string> {
  const { server } = await cloud.call("compute", "GET", `/servers/${id}`);
  const { fault } = (server ?? {}) as { fault?: { message?: string } };
  return (fault?.message ?? "the cloud gives no reason").replace(/\.?$/, ".");
}
