/**
 * The generations of CB-Tumblebug's API, which share the model in this file: "mcis" for releases 0.7 to 0.9 (MCIS,
 * VM, sub group), "infra" for current releases (infra, node, node group).
 */
export type Generation = "mcis" | "infra";

/** A namespace, which contains all other objects. */
export interface Namespace {
  readonly name: string;
  readonly description: string;
}

/** A connection to a region of a cloud, with credentials that the server stores. */
export interface Connection {
  readonly name: string;
  /** Name of the cloud in lower case, such as "aws". */
  readonly provider: string;
  /** The server's name of the region. */
  readonly regionName: string;
}

/** Region and zone of a connection; "" if the cloud does not report it. */
export interface Region {
  readonly region: string;
  readonly zone: string;
}

/** A machine type, as reported by the cloud. */
export interface CloudSpec {
  readonly name: string;
  readonly region: string;
  /** Undefined if the cloud reports no whole number. */
  readonly vcpus: number | undefined;
  /** Undefined if the cloud reports no whole number. */
  readonly memoryMebibytes: number | undefined;
}

/** An operating system image, as reported by the cloud. */
export interface CloudImage {
  /** Name in the cloud. */
  readonly name: string;
  readonly guestOs: string;
}

interface DesiredSubnet {
  readonly name: string;
  readonly cidr: string;
  /** Used by `infra` only; `mcis` ignores it. */
  readonly zone?: string;
}

export interface DesiredVNet {
  readonly name: string;
  readonly connection: string;
  readonly cidr: string;
  readonly subnets: readonly DesiredSubnet[];
  readonly description?: string;
}

/** Fields of every created object. */
interface Made {
  /** Name by which other objects refer to it. */
  readonly name: string;
  readonly connection: string;
  /** Id in the cloud; "" before it has one, and for objects that do not exist in the cloud. */
  readonly cloudId: string;
  readonly description: string;
}

export interface VNet extends Made {
  readonly cidr: string;
  readonly subnets: readonly { readonly name: string; readonly cidr: string; readonly zone: string }[];
  readonly status: string;
}

/** A firewall rule. A rule for "icmp" has no ports. */
export interface FirewallRule {
  readonly direction: "inbound" | "outbound";
  readonly protocol: "tcp" | "udp" | "icmp" | "all";
  /** First and last port; equal for a single port. */
  readonly ports?: readonly [from: number, to: number];
  /** Source of inbound traffic, or destination of outbound traffic. */
  readonly cidr: string;
}

export interface DesiredSecurityGroup {
  readonly name: string;
  readonly connection: string;
  /** Name of the VNet. */
  readonly vNet: string;
  readonly rules: readonly FirewallRule[];
  readonly description?: string;
}

/** A security group, without the VNet, whose name the server changes in its answer. */
export interface SecurityGroup extends Made {
  /** Readable rules; may include rules that the cloud adds. */
  readonly rules: readonly FirewallRule[];
}

export interface DesiredSshKey {
  readonly name: string;
  readonly connection: string;
  readonly user: string;
  readonly description?: string;
}

export interface SshKey extends Made {
  readonly user: string;
  /** "" if the server returns none. */
  readonly publicKey: string;
  /** PEM, secret; the server returns it on every read. */
  readonly privateKey: string;
  readonly fingerprint: string;
}

export interface DesiredImage {
  readonly name: string;
  readonly connection: string;
  /** Name of the image in the cloud. */
  readonly cloudImage: string;
  readonly guestOs?: string;
  readonly description?: string;
}

export interface Image extends Made {
  readonly cloudImage: string;
  readonly guestOs: string;
}

export interface DesiredSpec {
  readonly name: string;
  readonly connection: string;
  /** Name of the machine type in the cloud. */
  readonly cloudSpec: string;
  readonly description?: string;
}

export interface Spec extends Made {
  readonly cloudSpec: string;
  readonly vcpus: number | undefined;
  readonly memoryMebibytes: number | undefined;
}

/** What a VM is made of. */
interface VmSettings {
  readonly connection: string;
  readonly spec: string;
  /** Name of the registered image for `mcis`; the cloud's name for `infra`. */
  readonly image: string;
  readonly vNet: string;
  readonly subnet: string;
  readonly securityGroups: readonly string[];
  readonly sshKey: string;
  /** SSH user, with sudo. */
  readonly user: string;
}

/** A group of VMs with the same configuration. The server names them `<group>-1`, `<group>-2`, …, even a single one. */
export interface DesiredVmGroup extends VmSettings {
  readonly name: string;
  readonly size: number;
  readonly rootDisk?: { readonly type?: string; readonly gibibytes?: number };
  readonly labels?: Readonly<Record<string, string>>;
  readonly description?: string;
}

export interface DesiredInfrastructure {
  readonly name: string;
  readonly description?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly groups: readonly DesiredVmGroup[];
}

export interface VirtualMachine extends VmSettings {
  readonly name: string;
  readonly group: string;
  /** Such as "Creating", "Running", "Terminated", "Failed" or "Undefined"; newer servers may have others. */
  readonly status: string;
  /** Operation in progress; "None" if there is none. */
  readonly targetAction: string;
  /** The cloud's reason of a failure; "" if there is none. */
  readonly systemMessage: string;
  readonly region: string;
  readonly zone: string;
  /** Undefined until known. */
  readonly publicAddress: string | undefined;
  readonly privateAddress: string | undefined;
  readonly sshPort: number;
  /** Id in the cloud; "" before it has one. */
  readonly cloudId: string;
}

/** A set of VMs: an MCIS (`mcis`) or infra (`infra`). */
export interface Infrastructure {
  readonly name: string;
  /** Text such as "Running:3 (R:3/3)", for display only; decisions use the status of the VMs. */
  readonly status: string;
  readonly targetAction: string;
  readonly targetStatus: string;
  readonly description: string;
  /** Errors of its creation. */
  readonly messages: readonly string[];
  /** In no particular order. */
  readonly machines: readonly VirtualMachine[];
}

/** The short status of an infrastructure and its VMs. */
export interface InfrastructureStatus {
  readonly name: string;
  readonly status: string;
  readonly targetAction: string;
  readonly machines: readonly Pick<
    VirtualMachine,
    "name" | "status" | "targetAction" | "systemMessage" | "publicAddress" | "privateAddress" | "sshPort"
  >[];
}

/** A TCP load balancer for the VMs of a group. */
export interface DesiredLoadBalancer {
  /** Name of the VM group, which identifies the load balancer: there is one per group. */
  readonly group: string;
  /** Port of the listener. */
  readonly port: number;
  /** Port of the VMs. */
  readonly targetPort: number;
  readonly isPublic: boolean;
}

export interface LoadBalancer {
  readonly group: string;
  readonly port: number;
  readonly targetPort: number;
  /** IP address or DNS name; undefined until known. */
  readonly address: string | undefined;
  readonly status: string;
  /** Names of its VMs. */
  readonly machines: readonly string[];
  readonly cloudId: string;
}
