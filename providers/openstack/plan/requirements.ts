import type { PodNetworkKind } from "../../kubeadm/plan/endpoint/network-ports";
import { changedInCloud } from "./changed-in-cloud";
import type {
  CloudFacts,
  DesiredCloud,
  DesiredServer,
  Named,
  ObjectQuota,
  Quota,
  UnmetRequirement,
  VolumeFacts,
} from "./cloud-facts";
import { slotOfMachine, type NetworkKey } from "./machine";
import { listed } from "../../../lib/text/quote";

/** Returns the unmet requirements of a run, before any change. Properties are paths in `foresail:openstack`. */
export function unmetCloud(desired: DesiredCloud, facts: CloudFacts): UnmetRequirement[] {
  const arriving = new Set(desired.arriving);
  const missing = desired.servers.filter(({ name }) => arriving.has(name) && !facts.servers.includes(name));
  const unmet = [
    ...changedInCloud(desired, facts),
    ...missing.flatMap((server) => [...unmetServer(server, facts)]),
    ...desired.servers.flatMap((server) => failedServerIssues(server, facts)),
    ...unmetServices(desired, facts),
    ...exceededQuotas(computeNeeds(missing, desired, facts)),
    ...unmetVolumes(missing, facts.volumes),
  ];
  // Servers of one pool have the same unmet requirements.
  return [...new Map(unmet.map((each) => [`${each.property} ${each.reason}`, each])).values()];
}

function* unmetServer(server: DesiredServer, facts: CloudFacts): Generator<UnmetRequirement> {
  const unmet = (field: string, reason: string) => ({
    property: `openstack.pools.${server.pool}.${field}`,
    reason,
  });
  const flavor = findNamed("flavor", server.flavor, facts.flavors);
  const image = findNamed("image", server.image, facts.images);
  if (typeof flavor === "string") yield unmet("flavor", flavor);
  if (typeof image === "string") yield unmet("image", image);
  else if (image.status !== "active")
    yield unmet("image", `"${server.image}" is ${image.status}, not active; wait for it or choose another`);
  if (typeof flavor !== "string" && typeof image !== "string") {
    const disk = server.rootVolume?.size ?? flavor.disk;
    // A flavor with disk 0 takes its size from the image.
    if (disk > 0 && disk < image.minDisk)
      yield unmet(
        server.rootVolume ? "rootVolume.sizeGiB" : "flavor",
        `${disk} GiB is too small for the image "${server.image}", which needs ${image.minDisk} GiB`,
      );
    if (flavor.ram < image.minRam)
      yield unmet(
        "flavor",
        `"${server.flavor}" has ${flavor.ram} MiB of memory, and the image "${server.image}" needs ${image.minRam} MiB`,
      );
  }
  const zone = facts.zones.find(({ name }) => name === server.zone);
  const zones = listed(facts.zones.map(({ name }) => name));
  if (server.zone !== undefined && zone === undefined)
    yield unmet("zones", `the cloud has no availability zone "${server.zone}"; it has ${zones}`);
  if (zone?.available === false)
    yield unmet("zones", `the availability zone "${zone.name}" is not available now; take another`);
}

/** Reports desired servers that exist in state ERROR: they would never answer at their addresses. */
function failedServerIssues({ name, pool }: DesiredServer, { failed }: CloudFacts): UnmetRequirement[] {
  return failed
    .filter((server) => server.name === name)
    .map(({ reason }) => ({
      property: `openstack.pools.${pool}`,
      reason:
        `the server ${name} is in state ERROR: ${reason} ${adviceFor(reason).remedy}, or have another one made ` +
        `with the next number in \`replace: {${slotOfMachine(name)}: …}\``,
    }));
}

function* unmetServices(
  { externalNetwork, loadBalancer, volumes = false, newCredential = false }: DesiredCloud,
  { externalNetworks, hasLoadBalancer, hasVolumes, isRestricted }: CloudFacts,
): Generator<UnmetRequirement> {
  const network = externalNetwork && findNamed("external network", externalNetwork, externalNetworks);
  if (typeof network === "string") yield { property: "openstack.network.externalNetwork", reason: network };
  if (loadBalancer && !hasLoadBalancer)
    yield {
      property: "openstack.endpoint.octavia",
      reason: "the cloud has no load-balancer service (Octavia); write `endpoint: {loopback: {}}`",
    };
  if (volumes && !hasVolumes)
    yield {
      property: "openstack.cloudProvider.cinder",
      reason: "the cloud has no block-storage service (Cinder); write `cinder: {enabled: false}`",
    };
  if (newCredential && isRestricted)
    yield {
      property: "openstack.cloudProvider",
      reason:
        "the application credential of clouds.yaml may make no other one for the cluster; make one by hand and give it in " +
        "`foresail:cloudApplicationCredential`, or write `enabled: false`",
    };
}

/** The need of a run for a quota; the cloud may report no limit. */
interface QuotaNeed extends Partial<Quota> {
  /** Name of the resource, such as "servers". */
  what: string;
  /** Unit after a number, with a leading space: " MiB". */
  unit?: string;
  need: number;
  /** Remediation other than a larger quota. */
  todo: string;
}

const OBJECT_QUOTAS: Readonly<Record<ObjectQuota, string>> = {
  port: "ports",
  network: "networks",
  subnet: "subnets",
  router: "routers",
  security_group: "security groups",
  security_group_rule: "security group rules",
  server_groups: "server groups",
};

function computeNeeds(
  missing: readonly DesiredServer[],
  desired: DesiredCloud,
  { compute, flavors, network = {} }: CloudFacts,
): QuotaNeed[] {
  const sizes = missing.map(({ flavor }) => flavors.find(({ id, name }) => id === flavor || name === flavor));
  const sum = (of: "vcpus" | "ram") => sizes.reduce((total, size) => total + (size?.[of] ?? 0), 0);
  const todo = "take fewer or smaller machines";
  return [
    { what: "servers", need: missing.length, ...compute.instances, todo },
    { what: "cores", need: sum("vcpus"), ...compute.cores, todo },
    { what: "floating IPs", need: desired.floatingIps, ...network.floatingip, todo: "release some" },
    { what: "memory", unit: " MiB", need: sum("ram"), ...compute.ram, todo },
    ...(Object.keys(desired.objects ?? {}) as ObjectQuota[]).map((key) => ({
      what: OBJECT_QUOTAS[key],
      need: desired.objects?.[key] ?? 0,
      todo: "delete some",
      ...(key === "server_groups" ? compute.serverGroups : network[key]),
    })),
  ];
}

/** @param facts undefined if the cloud has no block-storage service */
function unmetVolumes(servers: readonly DesiredServer[], facts?: VolumeFacts): UnmetRequirement[] {
  const desired = servers.flatMap(({ pool, rootVolume }) => (rootVolume ? [{ pool, ...rootVolume }] : []));
  if (facts === undefined)
    return desired.map(({ pool }) => ({
      property: `openstack.pools.${pool}.rootVolume`,
      reason:
        "the cloud has no block-storage service (Cinder); leave `rootVolume` out, and machines boot from their flavor's disk",
    }));
  const { types, quota = {} } = facts;
  const largest = quota.per_volume_gigabytes?.limit ?? -1;
  const volumes = desired.map((volume) => {
    const found = volume.type === undefined ? undefined : findNamed("volume type", volume.type, types);
    return { ...volume, found, type: typeof found === "object" ? found.name : undefined };
  });
  const unmet = volumes.flatMap(({ pool, size, found }) => {
    const path = `openstack.pools.${pool}.rootVolume`;
    const reason = `${size} GiB is more than the quota allows one volume: ${largest} GiB; ask for more, or take a smaller one`;
    return [
      ...(typeof found === "string" ? [{ property: `${path}.type`, reason: found }] : []),
      ...(largest >= 0 && size > largest ? [{ property: `${path}.sizeGiB`, reason }] : []),
    ];
  });
  /** Returns the needs of volumes of one type, or of all volumes. */
  const needs = (name?: string): QuotaNeed[] => {
    const of = volumes.filter(({ type }) => name === undefined || type === name);
    const [suffix, words] = name === undefined ? ["", ""] : [`_${name}`, ` of type "${name}"`];
    const fewer = "take fewer machines with a `rootVolume`";
    const size = of.reduce((sum, volume) => sum + volume.size, 0);
    const smaller = "take a smaller `rootVolume.sizeGiB`";
    return [
      { what: `volumes${words}`, need: of.length, ...quota[`volumes${suffix}`], todo: fewer },
      {
        what: `the size of volumes${words}`,
        unit: " GiB",
        need: size,
        todo: smaller,
        ...quota[`gigabytes${suffix}`],
      },
    ];
  };
  const names = [...new Set(volumes.flatMap(({ type }) => type ?? []))];
  return [...unmet, ...exceededQuotas([undefined, ...names].flatMap((name) => needs(name)))];
}

/** Finds an item by name or id. @returns the item, or an error message if there is none or more than one */
export function findNamed<Item extends Named>(
  what: string,
  desired: string,
  items: readonly Item[],
): Item | string {
  const found = items.filter(({ id, name }) => id === desired || name === desired);
  const byId = found.find(({ id }) => id === desired);
  if (byId) return byId;
  const [first] = found;
  if (first && found.length === 1) return first;
  if (first)
    return `the cloud has ${found.length} ${what}s called "${desired}"; write the id of one: ${listed(found.map(({ id }) => id))}`;
  const names = [...new Set(items.map(({ name }) => name))].sort();
  return `the cloud has no ${what} "${desired}"; it has ${names.length === 0 ? "none at all" : listed(names)}`;
}

/** Returns the quotas that a run would exceed. */
function exceededQuotas(needs: readonly QuotaNeed[]): UnmetRequirement[] {
  return needs.flatMap(({ what, unit = "", need, limit = -1, used = 0, todo }) => {
    if (limit < 0 || need <= 0 || used + need <= limit) return [];
    const state = `needs ${need}${unit} more, limit ${limit}${unit}, used ${used}${unit}`;
    const reason = `quota for ${what} exceeded: ${state}; raise the quota, or ${todo}`;
    return [{ property: "openstack.pools", reason }];
  });
}

/** Advice by the cloud's reason for a failed server: during a run, and as the beginning of a preview's sentence. */
const FAULTS: readonly { reason: RegExp; todo: string; remedy: string }[] = [
  {
    reason: /no valid host/i,
    todo: "no host of the cloud has room for such a server: choose another flavor, image or zone, or ask the cloud's operator for room",
    remedy: "Choose another flavor, image or zone",
  },
  {
    reason: /quota exceeded|exceed\w* .*\bquota/i,
    todo: "raise the quota, or take fewer or smaller machines",
    remedy: "Raise the quota",
  },
  {
    reason: /\b(volume|cinder|block device)/i,
    todo: "take another `rootVolume`, or ask the cloud's operator why Cinder did not make this one",
    remedy: "Take another `rootVolume`",
  },
];

const OTHERWISE = {
  todo: "choose another flavor, image or zone",
  remedy: "Choose another flavor, image or zone",
};

const adviceFor = (fault: string) => FAULTS.find(({ reason }) => reason.test(fault)) ?? OTHERWISE;

/**
 * Returns the message about a server that the cloud could not create. Pulumi's OpenStack provider reports only ERROR.
 *
 * @param fault the cloud's reason
 */
export function serverFaultAdvice(server: string, fault: string): string {
  const reason = `${fault.trimEnd().replace(/\.$/, "")}.`;
  return `${server} could not be made: ${reason} What to do: ${adviceFor(fault).todo}; then run the same again, what was made is kept`;
}

/**
 * Returns why a cluster's machines can't move to another network. During the move, some machines are in the old network
 * and some in the new one, with a router in between.
 *
 * @param existing networks of the existing machines
 * @param balancer network of the address of Octavia's load balancer, if there is one
 */
export function networkChangeRefusals(
  wanted: NetworkKey,
  existing: readonly NetworkKey[],
  podNetwork: PodNetworkKind,
  balancer = wanted,
): UnmetRequirement[] {
  const other = existing.find((network) => network !== wanted);
  const refusals = [
    ...(other !== undefined && podNetwork === "bridge"
      ? [
          `the built-in pod network leads to machines of one network alone, and this cluster's lie in ${other}`,
        ]
      : []),
    ...(balancer !== wanted
      ? [
          `Octavia's load balancer has its address in ${balancer}, and every certificate and kubelet of this cluster holds that address`,
        ]
      : []),
  ];
  return refusals.map((why) => ({
    property: "openstack.network",
    reason: `${why}; write that network again, or make a new cluster`,
  }));
}
