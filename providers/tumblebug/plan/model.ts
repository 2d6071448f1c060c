/**
 * What CB-Tumblebug keeps, in words of our own: one model for both generations of its API. "mcis" is that of the releases
 * 0.7 to 0.9 (MCIS, VM, sub group), "infra" today's (infra, node, node group).
 */
export type Generation = "mcis" | "infra";

/** The namespace that holds everything else. */
export interface Namespace {
  readonly name: string;
  readonly description: string;
}

/** A way to one region of one cloud, with credentials that the server keeps. */
export interface Connection {
  readonly name: string;
  /** in lower case, such as "aws" */
  readonly provider: string;
  /** under which the server keeps the region */
  readonly regionName: string;
}

/** Where a connection leads. Some clouds' regions say nothing of it: then a word is "". */
export interface Region {
  readonly region: string;
  readonly zone: string;
}

/** A machine type, as the cloud describes it. */
export interface CloudSpec {
  readonly name: string;
  readonly region: string;
  /** undefined when the cloud's answer holds no whole number */
  readonly vcpus: number | undefined;
  /** undefined when the cloud's answer holds no whole number */
  readonly memoryMebibytes: number | undefined;
}

/** An operating system image, as the cloud describes it. */
export interface CloudImage {
  /** by which the cloud knows it */
  readonly name: string;
  readonly guestOs: string;
}

interface DesiredSubnet {
  readonly name: string;
  readonly cidr: string;
  /** of today's generation; the older one ignores it */
  readonly zone?: string;
}

export interface DesiredVNet {
  readonly name: string;
  readonly connection: string;
  readonly cidr: string;
  readonly subnets: readonly DesiredSubnet[];
  readonly description?: string;
}

/** What every made object says of itself. */
interface Made {
  /** by which others refer to it */
  readonly name: string;
  readonly connection: string;
  /** by which the cloud knows it; "" before it does, and for what the cloud doesn't keep */
  readonly cloudId: string;
  readonly description: string;
}

export interface VNet extends Made {
  readonly cidr: string;
  readonly subnets: readonly { readonly name: string; readonly cidr: string; readonly zone: string }[];
  readonly status: string;
}

/** One opening. A rule for "icmp" has no ports. */
export interface FirewallRule {
  readonly direction: "inbound" | "outbound";
  readonly protocol: "tcp" | "udp" | "icmp" | "all";
  /** first and last; the same for one port */
  readonly ports?: readonly [from: number, to: number];
  /** who may come in, or where it may go */
  readonly cidr: string;
}

export interface DesiredSecurityGroup {
  readonly name: string;
  readonly connection: string;
  /** name of the VNet */
  readonly vNet: string;
  readonly rules: readonly FirewallRule[];
  readonly description?: string;
}

/** The server rewrites the VNet's name in its answer, so that it isn't told here. */
export interface SecurityGroup extends Made {
  /** those that can be read; what a cloud adds by itself may be among them */
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
  /** "" when the server gives none */
  readonly publicKey: string;
  /** secret, PEM; the server gives it at every read */
  readonly privateKey: string;
  readonly fingerprint: string;
}

export interface DesiredImage {
  readonly name: string;
  readonly connection: string;
  /** by which the cloud knows it */
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
  /** the machine type by which the cloud knows it */
  readonly cloudSpec: string;
  readonly description?: string;
}

export interface Spec extends Made {
  readonly cloudSpec: string;
  readonly vcpus: number | undefined;
  readonly memoryMebibytes: number | undefined;
}

/** VMs that are alike. The server names them `<group>-1`, `<group>-2`, …, a single one too. */
export interface DesiredVmGroup {
  readonly name: string;
  readonly size: number;
  readonly connection: string;
  readonly spec: string;
  /** name of the registered image on `mcis`, the cloud's name of it on `infra` */
  readonly image: string;
  readonly vNet: string;
  readonly subnet: string;
  readonly securityGroups: readonly string[];
  readonly sshKey: string;
  /** who logs in, with sudo */
  readonly user: string;
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

/** What the server says of a VM; other words may come from newer servers. */
type VmStatus =
  | "Preparing"
  | "Prepared"
  | "Registering"
  | "Reconciling"
  | "Creating"
  | "Running"
  | "Suspending"
  | "Suspended"
  | "Resuming"
  | "Rebooting"
  | "Terminating"
  | "Terminated"
  | "Failed"
  | "Undefined";

export interface VirtualMachine {
  readonly name: string;
  readonly group: string;
  readonly status: VmStatus | (string & {});
  /** "None" when nothing goes on */
  readonly targetAction: string;
  /** why it failed, in the cloud's words; "" when it has none */
  readonly systemMessage: string;
  readonly region: string;
  readonly zone: string;
  /** undefined until it is known */
  readonly publicAddress: string | undefined;
  readonly privateAddress: string | undefined;
  readonly sshPort: number;
  readonly connection: string;
  readonly user: string;
  readonly spec: string;
  readonly image: string;
  readonly vNet: string;
  readonly subnet: string;
  readonly securityGroups: readonly string[];
  readonly sshKey: string;
  /** by which the cloud knows it; "" before it does */
  readonly cloudId: string;
}

/** The VMs that belong together: an MCIS, or an infra as it is called today. */
export interface Infrastructure {
  readonly name: string;
  /** such as "Running:3 (R:3/3)"; for people, decide by the VMs */
  readonly status: string;
  readonly targetAction: string;
  readonly targetStatus: string;
  readonly description: string;
  /** what went wrong at its creation */
  readonly messages: readonly string[];
  /** in no order that could be relied on */
  readonly machines: readonly VirtualMachine[];
}

/** The short answer to "how are they?". */
export interface InfrastructureStatus {
  readonly name: string;
  readonly status: string;
  readonly targetAction: string;
  readonly machines: readonly Pick<
    VirtualMachine,
    "name" | "status" | "targetAction" | "systemMessage" | "publicAddress" | "privateAddress" | "sshPort"
  >[];
}

/** What hands TCP connections to the VMs of a group. */
export interface DesiredLoadBalancer {
  /** the VM group; there is one load balancer a group, known by its name */
  readonly group: string;
  /** where it listens */
  readonly port: number;
  /** of the VMs */
  readonly targetPort: number;
  readonly isPublic: boolean;
  /** of the VMs; default TCP on the target port */
  readonly health?: { readonly protocol: "TCP" | "HTTP"; readonly port: number };
}

export interface LoadBalancer {
  readonly group: string;
  readonly port: number;
  readonly targetPort: number;
  /** IP address or DNS name; undefined until it is known */
  readonly address: string | undefined;
  readonly status: string;
  /** the VMs that it knows */
  readonly machines: readonly string[];
  readonly cloudId: string;
}
