import {
  exceededQuotas,
  findNamed,
  type UnmetRequirement,
  type Named,
  type Quota,
} from "./unmet-requirement";
import { slotOfMachine, type RootVolume } from "./machine";
import { failedServerRemedy } from "./server-fault";
import { unmetVolume, type VolumeFacts } from "./volume-requirements";

/** A server, with the properties that the cloud preflight checks. */
export interface DesiredServer {
  name: string;
  pool: string;
  flavor: string;
  image: string;
  zone?: string;
  rootVolume?: RootVolume;
}

/** What one run requires of the cloud. */
export interface DesiredCloud {
  /** All servers that exist after the run. */
  servers: DesiredServer[];
  externalNetwork?: string;
  loadBalancer: boolean;
  /** Whether the Cinder CSI driver is installed. @default false */
  volumes?: boolean;
  /** Whether the run creates an application credential for the cluster. @default false */
  newCredential?: boolean;
  /** Number of floating IPs that the run creates. */
  floatingIps: number;
}

/** Facts about the cloud, as far as it reports them. A limit of -1 means unlimited. */
export interface CloudFacts {
  flavors: (Named & { vcpus: number; ram: number; disk: number })[];
  images: (Named & { status: string; minDisk: number; minRam: number })[];
  zones: { name: string; available: boolean }[];
  externalNetworks: Named[];
  /** Names of existing servers. */
  servers: string[];
  /** Failed servers: in state ERROR, without the ready tag, and with the cloud's reason. */
  failed: (Named & { reason: string })[];
  compute: {
    instances: Quota;
    cores: Quota;
    /** MiB */
    ram: Quota;
  };
  /** Absent if the cloud does not report it. */
  floatingIps?: Quota;
  hasLoadBalancer: boolean;
  hasVolumes: boolean;
  /** Whether the current credential can't create application credentials. */
  isRestricted: boolean;
  /** Absent if the cloud has no block-storage service or no server has a root volume. */
  volumes?: VolumeFacts;
}

/** Returns the unmet requirements of a run, before any change. Properties are paths in `foresail:openstack`. */
export function unmetCloud(desired: DesiredCloud, facts: CloudFacts): UnmetRequirement[] {
  const missing = desired.servers.filter(({ name }) => !facts.servers.includes(name));
  const unmet = [
    ...missing.flatMap((server) => unmetServer(server, facts)),
    ...desired.servers.flatMap((server) => failedServerIssues(server, facts)),
    ...unmetNetwork(desired, facts),
    ...unmetCinder(desired, facts),
    ...unmetCredential(desired, facts),
    ...unmetQuota(missing, desired.floatingIps, facts),
    ...unmetVolume(
      missing.flatMap(({ pool, rootVolume }) => (rootVolume ? [{ pool, rootVolume }] : [])),
      facts.volumes,
    ),
  ];
  // Servers of one pool have the same unmet requirements.
  return [
    ...new Map(
      unmet.map((unmetRequirement) => [
        `${unmetRequirement.property} ${unmetRequirement.reason}`,
        unmetRequirement,
      ]),
    ).values(),
  ];
}

function unmetServer(server: DesiredServer, facts: CloudFacts): UnmetRequirement[] {
  const path = `openstack.pools.${server.pool}`;
  const flavor = findNamed("flavor", server.flavor, facts.flavors);
  const image = findNamed("image", server.image, facts.images);
  const unmet: UnmetRequirement[] = [];
  const unmetRequirement = (field: string, reason: string) =>
    unmet.push({ property: `${path}.${field}`, reason });
  if (typeof flavor === "string") unmetRequirement("flavor", flavor);
  if (typeof image === "string") unmetRequirement("image", image);
  if (typeof image !== "string" && image.status !== "active")
    unmetRequirement(
      "image",
      `"${server.image}" is ${image.status}, not active; wait for it or choose another`,
    );
  if (typeof flavor !== "string" && typeof image !== "string") {
    const disk = server.rootVolume?.size ?? flavor.disk;
    // A flavor with disk 0 takes its size from the image.
    if (disk > 0 && disk < image.minDisk)
      unmetRequirement(
        server.rootVolume ? "rootVolume.sizeGiB" : "flavor",
        `${disk} GiB is too small for the image "${server.image}", which needs ${image.minDisk} GiB`,
      );
    if (flavor.ram < image.minRam)
      unmetRequirement(
        "flavor",
        `"${server.flavor}" has ${flavor.ram} MiB of memory, and the image "${server.image}" needs ${image.minRam} MiB`,
      );
  }
  const zone = facts.zones.find(({ name }) => name === server.zone);
  if (server.zone !== undefined && zone === undefined)
    unmetRequirement(
      "zones",
      `the cloud has no availability zone "${server.zone}"; it has ${facts.zones.map(({ name }) => name).join(", ")}`,
    );
  if (zone?.available === false)
    unmetRequirement("zones", `the availability zone "${zone.name}" is not available now; take another`);
  return unmet;
}

/** Reports desired servers that exist in state ERROR: they would never answer at their addresses. */
function failedServerIssues({ name, pool }: DesiredServer, { failed }: CloudFacts): UnmetRequirement[] {
  return failed
    .filter((server) => server.name === name)
    .map(({ reason }) => ({
      property: `openstack.pools.${pool}`,
      reason:
        `the server ${name} is in state ERROR: ${reason} ${failedServerRemedy(reason)}, or have another one made ` +
        `with the next number in \`replace: {${slotOfMachine(name)}: …}\``,
    }));
}

function unmetNetwork(desired: DesiredCloud, facts: CloudFacts): UnmetRequirement[] {
  const unmet: UnmetRequirement[] = [];
  if (desired.externalNetwork !== undefined) {
    const network = findNamed("external network", desired.externalNetwork, facts.externalNetworks);
    if (typeof network === "string")
      unmet.push({ property: "openstack.network.externalNetwork", reason: network });
  }
  if (desired.loadBalancer && !facts.hasLoadBalancer)
    unmet.push({
      property: "openstack.endpoint.octavia",
      reason: "the cloud has no load-balancer service (Octavia); write `endpoint: {loopback: {}}`",
    });
  return unmet;
}

function unmetCinder({ volumes = false }: DesiredCloud, { hasVolumes }: CloudFacts): UnmetRequirement[] {
  if (!volumes || hasVolumes) return [];
  const property = "openstack.cloudProvider.cinder";
  const reason = "the cloud has no block-storage service (Cinder); write `cinder: {enabled: false}`";
  return [{ property, reason }];
}

function unmetCredential(
  { newCredential = false }: DesiredCloud,
  { isRestricted }: CloudFacts,
): UnmetRequirement[] {
  if (!newCredential || !isRestricted) return [];
  const reason =
    "the application credential of clouds.yaml may make no other one for the cluster; make one by hand and give it in " +
    "`foresail:cloudApplicationCredential`, or write `enabled: false`";
  return [{ property: "openstack.cloudProvider", reason }];
}

function unmetQuota(
  missing: readonly DesiredServer[],
  newFloatingIps: number,
  { compute, flavors, floatingIps }: CloudFacts,
): UnmetRequirement[] {
  const sizes = missing.map(({ flavor }) => flavors.find(({ id, name }) => id === flavor || name === flavor));
  const sum = (of: (flavor: { vcpus: number; ram: number }) => number) =>
    sizes.reduce((total, flavor) => total + (flavor ? of(flavor) : 0), 0);
  const fewer = "take fewer or smaller machines";
  return exceededQuotas([
    { what: "servers", unit: "", need: missing.length, ...compute.instances, todo: fewer },
    { what: "cores", unit: "", need: sum(({ vcpus }) => vcpus), ...compute.cores, todo: fewer },
    ...(floatingIps
      ? [{ what: "floating IPs", unit: "", need: newFloatingIps, ...floatingIps, todo: "release some" }]
      : []),
    { what: "memory", unit: " MiB", need: sum(({ ram }) => ram), ...compute.ram, todo: fewer },
  ]);
}
