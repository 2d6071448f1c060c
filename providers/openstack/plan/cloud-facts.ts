import type { ObjectKind } from "./leftovers";
import type { MachineShape } from "./machine";

/** A requirement that the cloud does not meet, with the configuration property that requires it. */
export interface UnmetRequirement {
  property: string;
  reason: string;
}

/** Which cloud: an entry of clouds.yaml and a region; OS_CLOUD or the OS_… variables when absent. */
export interface CloudRef {
  cloud?: string;
  region?: string;
}

/** A cloud object that the configuration refers to by name or id. */
export interface Named {
  id: string;
  name: string;
}

/** Limit and use of a project's quota. A limit of -1 means unlimited. */
export interface Quota {
  limit: number;
  used: number;
}

/** An object of Neutron that the state has. */
export interface RecordedObject {
  kind: Extract<
    ObjectKind,
    "port" | "floating IP" | "network" | "subnet" | "router" | "security group" | "security group rule"
  >;
  /** Name of its resource. */
  name: string;
  id: string;
}

/** A server, with the properties that the cloud preflight checks. */
export interface DesiredServer extends Omit<MachineShape, "network"> {
  name: string;
  pool: string;
}

/** Quotas of objects that a cluster needs beside its servers: Neutron's keys, and "server_groups" of Nova. */
export type ObjectQuota =
  "port" | "network" | "subnet" | "router" | "security_group" | "security_group_rule" | "server_groups";

/** Number of objects that a run creates, by quota. */
export type NewObjects = Readonly<Record<ObjectQuota, number>>;

/** What one run requires of the cloud. */
export interface DesiredCloud {
  /** All servers that exist after the run. */
  servers: DesiredServer[];
  /** Machines whose servers this run creates; only these need an image, a flavor and room. */
  arriving: string[];
  externalNetwork?: string;
  loadBalancer: boolean;
  /** Whether the Cinder CSI driver is installed. @default false */
  volumes?: boolean;
  /** Whether the run creates an application credential for the cluster. @default false */
  newCredential?: boolean;
  /** Machines whose servers this run deletes. */
  leaving: string[];
  /** Number of floating IPs that the run creates. */
  floatingIps: number;
  /** Number of other objects that the run creates; absent if there is none. */
  objects?: NewObjects;
}

/** Facts about a cloud's block-storage service. */
export interface VolumeFacts {
  types: Named[];
  /** Quotas by Cinder's keys, such as "volumes", "gigabytes" and "gigabytes_ssd"; absent if Cinder reports none. */
  quota?: Readonly<Record<string, Quota>>;
}

/** Facts about the cloud, as far as it reports them. */
export interface CloudFacts {
  flavors: (Named & { vcpus: number; ram: number; disk: number })[];
  images: (Named & { status: string; minDisk: number; minRam: number })[];
  zones: { name: string; available: boolean }[];
  externalNetworks: Named[];
  /** Names of existing servers. */
  servers: string[];
  /** Machine name → status of its recorded server, such as "ACTIVE" and "SHUTOFF"; undefined if the cloud has none. */
  recorded: Readonly<Record<string, string | undefined>>;
  /** Machine name → metadata of its recorded server; undefined if the cloud has none. */
  metadata: Readonly<Record<string, Readonly<Record<string, string>> | undefined>>;
  /** Recorded objects that the cloud no longer has. */
  gone: readonly RecordedObject[];
  /** Machine name → ids of its recorded port and server, where the port is not attached to that server. */
  detached: Readonly<Record<string, { port: string; server: string }>>;
  /** Machines with a root volume that the cloud no longer has, or that is attached no more. */
  withoutVolume: readonly string[];
  /** Failed servers: in state ERROR, without the ready tag, and with the cloud's reason. */
  failed: (Named & { reason: string })[];
  /** `ram` in MiB. */
  compute: Record<"instances" | "cores" | "ram", Quota> & { serverGroups?: Quota };
  /** Neutron's quotas by its keys, such as "port" and "floatingip"; absent if the cloud does not report them. */
  network?: Readonly<Record<string, Quota | undefined>>;
  hasLoadBalancer: boolean;
  hasVolumes: boolean;
  /** Whether the current credential can't create application credentials. */
  isRestricted: boolean;
  /** Absent if the cloud has no block-storage service or no server has a root volume. */
  volumes?: VolumeFacts;
}
