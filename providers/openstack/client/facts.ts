import { INITIALIZED_KEY } from "../plan/machine-record";
import type { CloudFacts } from "../plan/requirements";
import type { Cloud } from "./cloud";
import { CloudRefusal } from "./errors";
import { listAll } from "./list-all";
import { serverFault } from "./servers";
import { readVolumeFacts } from "./volume-facts";

/**
 * What a run needs to know of a cloud before it makes anything: eight calls at once, two more for root volumes, and one a
 * server in ERROR.
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
    listAll<Flavor>(cloud, "compute", "/flavors/detail", "flavors"),
    listAll<Image>(cloud, "image", "/images?limit=500", "images"),
    listAll<Zone>(cloud, "compute", "/os-availability-zone", "availabilityZoneInfo"),
    listAll<Network>(cloud, "network", "/networks?router:external=true", "networks"),
    listAll<{ name: string }>(
      cloud,
      "compute",
      `/servers?name=${encodeURIComponent(desired.servers)}`,
      "servers",
    ),
    listAll<FailedServer>(
      cloud,
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
    stillborn: await Promise.all(
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

/** The project's quota for floating IPs; undefined where the cloud does not tell it to a project. */
async function floatingIpQuota(cloud: Cloud): Promise<{ limit: number; used: number } | undefined> {
  try {
    const { tenant } = await cloud.call("network", "GET", "/quotas/tenant");
    const project = (tenant as { tenant_id: string }).tenant_id;
    const { quota } = await cloud.call("network", "GET", `/quotas/${project}/details.json`);
    const { limit, used } = (quota as { floatingip: { limit: number; used: number } }).floatingip;
    return { limit, used };
  } catch (error) {
    if (error instanceof CloudRefusal) return undefined;
    throw error;
  }
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
  /** Bytes of its file; absent while there is none. */
  size?: number | null;
  /** Bytes of the disk that it describes; absent where the cloud has not looked. */
  virtual_size?: number | null;
}

/** GiB that a disk needs for an image: what is said of it, and what it holds. */
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

/** Sets single keys of a server's metadata; the others stay. */
export async function setServerMetadata(
  cloud: Cloud,
  server: string,
  metadata: Readonly<Record<string, string>>,
): Promise<void> {
  await cloud.call("compute", "POST", `/servers/${server}/metadata`, { metadata });
}

/** A server's metadata. */
export async function serverMetadata(cloud: Cloud, server: string): Promise<Record<string, string>> {
  const { metadata } = await cloud.call("compute", "GET", `/servers/${server}/metadata`);
  return (metadata ?? {}) as Record<string, string>;
}

/** What a server wrote to its console lately. @throws CloudRefusal where the cloud shows no consoles */
export async function consoleOutput(cloud: Cloud, server: string): Promise<string> {
  const { output } = await cloud.call("compute", "POST", `/servers/${server}/action`, {
    "os-getConsoleOutput": { length: 500 },
  });
  return typeof output === "string" ? output : "";
}
