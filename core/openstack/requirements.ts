import { slotOfMachine } from "./machine-name";
import type { RootVolume } from "./pool";

/** A server as the cloud's checks see it. */
export interface ServerWish {
  name: string;
  pool: string;
  flavor: string;
  image: string;
  zone?: string;
  rootVolume?: RootVolume;
}

/** What one run needs of the cloud. */
export interface CloudWish {
  /** Every server that is to exist after the run. */
  servers: ServerWish[];
  externalNetwork?: string;
  loadBalancer: boolean;
  /** How many floating IPs the run makes. */
  floatingIps: number;
}

interface Named {
  id: string;
  name: string;
}

/** What the cloud has, as far as it answered. A limit of -1 is none. */
export interface CloudFacts {
  flavors: (Named & { vcpus: number; ram: number; disk: number })[];
  images: (Named & { status: string; minDisk: number; minRam: number })[];
  zones: { name: string; available: boolean }[];
  externalNetworks: Named[];
  /** Names of the servers that are there. */
  servers: string[];
  /** Servers in state ERROR that never became Nodes, and why in the cloud's words. */
  stillborn: (Named & { reason: string })[];
  compute: {
    instances: { limit: number; used: number };
    cores: { limit: number; used: number };
    /** MiB */
    ram: { limit: number; used: number };
  };
  /** Absent where the cloud does not tell it. */
  floatingIps?: { limit: number; used: number };
  hasLoadBalancer: boolean;
}

/** Something that the cloud lacks, with the property of the configuration that asks for it. */
export interface Lack {
  property: string;
  reason: string;
}

/** Says what a cloud lacks for a run, before anything is made. Path names are those of `foresail:openstack`. */
export function cloudLacks(wish: CloudWish, facts: CloudFacts): Lack[] {
  const missing = wish.servers.filter(({ name }) => !facts.servers.includes(name));
  const lacks = [
    ...missing.flatMap((server) => serverLacks(server, facts)),
    ...wish.servers.flatMap((server) => stillbornLacks(server, facts)),
    ...networkLacks(wish, facts),
    ...quotaLacks(missing, wish.floatingIps, facts),
  ];
  // ten servers of a pool lack the same
  return [...new Map(lacks.map((lack) => [`${lack.property} ${lack.reason}`, lack])).values()];
}

/** The one with this name or id. @returns what is wrong when there is none, or more than one */
export function findNamed<Item extends Named>(
  what: string,
  wish: string,
  items: readonly Item[],
): Item | string {
  const found = items.filter(({ id, name }) => id === wish || name === wish);
  const byId = found.find(({ id }) => id === wish);
  if (byId) return byId;
  const [first] = found;
  if (first && found.length === 1) return first;
  if (first)
    return `the cloud has ${found.length} ${what}s called "${wish}"; write the id of one: ${found.map(({ id }) => id).join(", ")}`;
  const names = [...new Set(items.map(({ name }) => name))].sort();
  const shown = names.slice(0, 12).join(", ") + (names.length > 12 ? ` and ${names.length - 12} more` : "");
  return `the cloud has no ${what} "${wish}"; it has ${names.length === 0 ? "none at all" : shown}`;
}

function serverLacks(server: ServerWish, facts: CloudFacts): Lack[] {
  const path = `openstack.pools.${server.pool}`;
  const flavor = findNamed("flavour", server.flavor, facts.flavors);
  const image = findNamed("image", server.image, facts.images);
  const lacks: Lack[] = [];
  const lack = (field: string, reason: string) => lacks.push({ property: `${path}.${field}`, reason });
  if (typeof flavor === "string") lack("flavor", flavor);
  if (typeof image === "string") lack("image", image);
  if (typeof image !== "string" && image.status !== "active")
    lack("image", `"${server.image}" is ${image.status}, not active; wait for it or choose another`);
  if (typeof flavor !== "string" && typeof image !== "string") {
    const disk = server.rootVolume?.size ?? flavor.disk;
    // a flavour without a disk takes what the image needs
    if (disk > 0 && disk < image.minDisk)
      lack(
        server.rootVolume ? "rootVolume.size" : "flavor",
        `${disk} GiB is too small for the image "${server.image}", which needs ${image.minDisk} GiB`,
      );
    if (flavor.ram < image.minRam)
      lack(
        "flavor",
        `"${server.flavor}" has ${flavor.ram} MiB of memory, and the image "${server.image}" needs ${image.minRam} MiB`,
      );
  }
  const zone = facts.zones.find(({ name }) => name === server.zone);
  if (server.zone !== undefined && zone === undefined)
    lack(
      "zones",
      `the cloud has no availability zone "${server.zone}"; it has ${facts.zones.map(({ name }) => name).join(", ")}`,
    );
  if (zone?.available === false)
    lack("zones", `the availability zone "${zone.name}" is not available now; take another`);
  return lacks;
}

/** A server that the cloud could not make is there by name, and nobody will ever answer at its address. */
function stillbornLacks({ name, pool }: ServerWish, { stillborn }: CloudFacts): Lack[] {
  return stillborn
    .filter((server) => server.name === name)
    .map(({ reason }) => ({
      property: `openstack.pools.${pool}`,
      reason:
        `the server ${name} is in state ERROR: ${reason} Take another flavour, image or zone, or have another one made ` +
        `with the next number in \`replace: {${slotOfMachine(name)}: …}\``,
    }));
}

function networkLacks(wish: CloudWish, facts: CloudFacts): Lack[] {
  const lacks: Lack[] = [];
  if (wish.externalNetwork !== undefined) {
    const network = findNamed("external network", wish.externalNetwork, facts.externalNetworks);
    if (typeof network === "string")
      lacks.push({ property: "openstack.network.externalNetwork", reason: network });
  }
  if (wish.loadBalancer && !facts.hasLoadBalancer)
    lacks.push({
      property: "openstack.endpoint.octavia",
      reason: "the cloud has no load-balancer service (Octavia); write `endpoint: {loopback: {}}`",
    });
  return lacks;
}

function quotaLacks(
  missing: readonly ServerWish[],
  newFloatingIps: number,
  { compute, flavors, floatingIps }: CloudFacts,
): Lack[] {
  const sizes = missing.map(({ flavor }) => flavors.find(({ id, name }) => id === flavor || name === flavor));
  const sum = (of: (flavor: { vcpus: number; ram: number }) => number) =>
    sizes.reduce((total, flavor) => total + (flavor ? of(flavor) : 0), 0);
  const needs = [
    { what: "servers", unit: "", need: missing.length, ...compute.instances },
    { what: "cores", unit: "", need: sum(({ vcpus }) => vcpus), ...compute.cores },
    ...(floatingIps ? [{ what: "floating IPs", unit: "", need: newFloatingIps, ...floatingIps }] : []),
    { what: "memory", unit: " MiB", need: sum(({ ram }) => ram), ...compute.ram },
  ];
  return needs.flatMap(({ what, unit, need, limit, used }) =>
    limit < 0 || need === 0 || used + need <= limit
      ? []
      : [
          {
            property: "openstack.pools",
            reason:
              `this run needs ${need}${unit} more of the quota for ${what}, and of ${limit}${unit} ${used}${unit} are in use; ` +
              `ask for more, or ${what === "floating IPs" ? "release some" : "take fewer or smaller machines"}`,
          },
        ],
  );
}
