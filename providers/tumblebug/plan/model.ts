/**
 * The generations of CB-Tumblebug's API, which share the model in this file: "mcis" for releases 0.7.0 to 0.8.7 (MCIS,
 * VM, sub group), "infra" for current releases (infra, node, node group).
 */
export type Generation = "mcis" | "infra";

/** A machine type, as reported by the cloud; its numbers are undefined if the cloud reports no whole ones. */
export interface CloudSpec {
  readonly vcpus: number | undefined;
  readonly memoryMebibytes: number | undefined;
}

/** A firewall rule. A rule for "icmp" has no ports. */
export interface FirewallRule {
  readonly direction: "inbound" | "outbound";
  readonly protocol: "tcp" | "udp" | "icmp" | "all";
  /** First and last port; equal for a single port. */
  readonly ports?: readonly [from: number, to: number];
  /** Word in place of the ports of ICMP, in a cloud that requires one. */
  readonly icmp?: "ALL";
  /** Source of inbound traffic, or destination of outbound traffic. */
  readonly cidr: string;
}

/** A group of VMs with the same configuration. The server names them `<group>-1`, `<group>-2`, …, even a single one. */
export interface DesiredVmGroup {
  readonly name: string;
  readonly size: number;
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
  readonly rootDisk?: { readonly type?: string; readonly gibibytes?: number };
}

/** A VM as the server records it. */
export interface VirtualMachine {
  readonly name: string;
  /** VM group. */
  readonly group: string;
  /** Such as "Creating", "Running", "Terminated", "Failed" or "Undefined"; newer servers may have others. */
  readonly status: string;
  /** Operation in progress; "None" if there is none. */
  readonly targetAction: string;
  /** The cloud's reason of a failure; "" if there is none. */
  readonly systemMessage: string;
  readonly connection: string;
  readonly region: string;
  readonly zone: string;
  /** Undefined until known. */
  readonly publicAddress: string | undefined;
  readonly privateAddress: string | undefined;
  readonly sshPort: number;
  readonly user: string;
  readonly sshKey: string;
  /** Id in the cloud; "" before it has one. */
  readonly cloudId: string;
  /** Name in the cloud, by which CB-Spider knows it; "" before it has one. */
  readonly cloudName: string;
}

/** The running VM of a machine, as the state records it. */
export interface MachineVm extends Pick<
  VirtualMachine,
  "sshPort" | "user" | "region" | "zone" | "connection"
> {
  /** Name of the VM on the server. */
  readonly vm: string;
  readonly publicAddress: string;
  readonly privateAddress: string;
}

/** Returns the fields of a running VM that the cluster needs. @param fallbackUser used if the server reports none */
export function machineVm(vm: VirtualMachine, fallbackUser: string): MachineVm {
  const { name, publicAddress = "", privateAddress = "", sshPort, user, region, zone, connection } = vm;
  return {
    vm: name,
    publicAddress,
    privateAddress,
    sshPort,
    user: user === "" ? fallbackUser : user,
    region,
    zone,
    connection,
  };
}
