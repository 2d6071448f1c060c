import * as pulumi from "@pulumi/pulumi";
import { resourceClass } from "../../../lib/pulumi/dynamic-resource";
import type { Slot } from "../plan/groups";
import type { PlannedSlot } from "../plan/machine-plan";
import type { FirewallRule, Generation, MachineVm } from "../plan/model";
import type { ConnectionNames } from "../plan/names";
import type { RecordedCluster } from "../plan/recorded-state";
import type { ConnectionFacts, DesiredTumblebug, UnmetRequirement } from "../plan/requirements";
import type { ExplainedRule } from "../plan/security-rules";
import type { ServerInputs } from "./server";

/** Kinds of objects that VMs are created from. */
export const OBJECT_KINDS = ["vNets", "securityGroups", "sshKeys", "images", "specs"] as const;

export interface TumblebugPlanInputs extends DesiredTumblebug {
  server: ServerInputs;
  /** Names of the objects that the stack needs, by kind; of images: {name, connection, cloudImage}. */
  objects: Record<(typeof OBJECT_KINDS)[number], ObjectName[]>;
  /** Removals of surplus control planes in this run, one line each. */
  steps: string[];
  /** Control planes that this run removes. */
  leaving: string[];
  /** Changes of the remaining runs, one line each. */
  later: string[];
  /** Changes in the configuration of existing machines that apply to new machines only. */
  remarks: string[];
  /**
   * Machines of earlier runs that were killed before they recorded their VMs; absent if there are none. Their VMs may be
   * deleted by the next run, too, when this one is killed.
   */
  unrecorded?: PlannedSlot[];
  /** Unmet requirements that are known without the server. */
  refusals?: UnmetRequirement[];
  /** Owner tag of the cluster's objects; absent in a stack's first run, which generates it. */
  mark?: string;
  /** Set by check. */
  found?: FoundOnServer;
  /** Set by check: the machines of each cloud, region and zone. */
  spread?: string[];
}

export interface TumblebugPlanOutputs extends TumblebugPlanInputs {
  mark: string;
}

interface ObjectName {
  name: string;
  connection: string;
  /** Images only: the name in the cloud, which some servers use as well. */
  cloudImage?: string;
}

/** What TumblebugPlan found on the server. */
export interface FoundOnServer {
  generation: Generation;
  /** Connection → its cloud, region and zone. */
  connections: Record<string, ConnectionFacts>;
  /** Existing objects of other owners: "vNets/<name>". */
  foreign: string[];
  /** Whether the namespace exists and was created by others. */
  namespaceIsForeign: boolean;
}

/**
 * The preflight of a run on the server, checked before any change, so that the preview reports unmet requirements with
 * their configuration property. All other resources of the cluster depend on it.
 */
export class TumblebugPlan extends resourceClass<
  TumblebugPlanInputs,
  TumblebugPlanOutputs & Pick<Required<TumblebugPlanInputs>, "found">,
  "found" | "spread"
>("tumblebug/TumblebugPlan", { outputs: ["found", "mark", "spread"], secrets: ["server"] }) {}

/** Inputs of every object that VMs are created from. */
export interface CloudObjectInputs {
  server: ServerInputs;
  namespace: string;
  /** Name of the object, the same in every run. */
  name: string;
  connection: string;
  /** Owner tag in the descriptions of this stack's objects. */
  mark: string;
  /** Whether to keep the object when the resource is deleted. */
  keepOnDelete: boolean;
  /** Whether the object existed before, created by others. */
  foreign: boolean;
  /** Set by check. */
  steps?: string[];
}

/** Recorded outputs of every object. */
export interface ObjectOutputs extends CloudObjectInputs {
  /** Name by which other objects refer to it; the server may choose another name than the requested one. */
  object: string;
  /** Whether this stack created the object and so may delete it. */
  made: boolean;
}

export type NamespaceInputs = Omit<CloudObjectInputs, "namespace" | "connection">;
export type NamespaceOutputs = NamespaceInputs & Pick<ObjectOutputs, "made">;

/** A namespace of the server. An existing namespace is used and never deleted. */
export class TumblebugNamespace extends resourceClass<NamespaceInputs, NamespaceOutputs>(
  "tumblebug/TumblebugNamespace",
  { outputs: ["made"], secrets: ["server"] },
) {}

/** The class of an object that VMs are created from. */
const objectClass = <
  Inputs extends CloudObjectInputs,
  Own extends object = object,
  Computed extends keyof Inputs = never,
>(
  type: string,
  own: (keyof Own & string)[] = [],
  secrets: (keyof Own & string)[] = [],
) =>
  resourceClass<Inputs, Inputs & ObjectOutputs & Own, Computed>(`tumblebug/${type}`, {
    outputs: ["object", "made", ...own],
    secrets: ["server", ...secrets],
  });

export interface VNetInputs extends CloudObjectInputs {
  /** IPv4 CIDR block of the VNet and of its only subnet. */
  cidr: string;
  /** Whether the block is from the configuration; a changed default block does not change an existing VNet. */
  cidrWritten: boolean;
  subnet: string;
}

/** A VNet of a connection, with one subnet. */
export class TumblebugVNet extends objectClass<VNetInputs>("TumblebugVNet") {}

export interface SecurityGroupInputs extends CloudObjectInputs {
  vNet: string;
  /** Name of the cloud, if the connection is known; absent in state of older releases. */
  provider?: string;
  /** Desired rules. A change adds new rules and removes old ones. */
  rules: ExplainedRule[];
  /** Rules as the server returned them at creation, possibly in another notation. */
  there?: FirewallRule[];
  /** Rules that the last refresh found missing; they are added again. */
  gone?: FirewallRule[];
}

/** A security group of a connection. */
export class TumblebugSecurityGroup extends objectClass<SecurityGroupInputs, object, "there">(
  "TumblebugSecurityGroup",
) {}

export interface SshKeyInputs extends CloudObjectInputs {
  user: string;
}

/** An SSH key that the cloud creates, for all machines of its connection. */
export class TumblebugSshKey extends objectClass<
  SshKeyInputs,
  Record<"privateKey" | "publicKey" | "fingerprint", string>
>("TumblebugSshKey", ["privateKey", "publicKey", "fingerprint"], ["privateKey"]) {}

export interface ImageInputs extends CloudObjectInputs {
  cloudImage: string;
}

/** An image of a cloud that the server registers for a connection, by its name in the cloud. */
export class TumblebugImage extends objectClass<ImageInputs>("TumblebugImage") {}

export interface SpecInputs extends CloudObjectInputs {
  cloudSpec: string;
}

/** A machine type of a cloud that the server registers for a connection, by its name in the cloud. */
export class TumblebugSpec extends objectClass<SpecInputs>("TumblebugSpec") {}

/** The server's names of a connection's objects; without `controlPlanes` if there are none. */
export type ConnectionObjects = Omit<ConnectionNames, "controlPlanes"> &
  Partial<Pick<ConnectionNames, "controlPlanes">>;

/** Inputs of TumblebugMcis. */
export interface McisInputs {
  server: ServerInputs;
  namespace: string;
  infrastructure: string;
  mark: string;
  /** "organization/project/stack", for the refusals of other stacks; absent in state of older releases. */
  stack?: string;
  /** Desired machines. A change creates VMs of new machines; TumblebugVm deletes VMs of surplus machines. */
  slots: Slot[];
  /** Connection → objects that its VMs are created from. */
  objects: Record<string, ConnectionObjects>;
  /** "<connection> <spec>" → the server's name of the spec. */
  specs: Record<string, string>;
  /** "<connection> <image>" → the server's name of the image. */
  images: Record<string, string>;
  user: string;
  /** Deadline for VMs to start, in seconds. */
  timeoutSeconds: number;
  /** What the state has of machines at the start of the run; used by check only. */
  recorded?: Recorded & Partial<Pick<RecordedCluster, "planned" | "unused" | "held">>;
  /** Set by check. */
  steps?: string[];
  /** Set by check: unchanged machines. */
  known?: Record<string, MachineVm>;
  /** Set by check: machine → VM of machines that are being removed. */
  leaving?: Record<string, string>;
  /** Set by check: VMs that no machine has and that are deleted. */
  unused?: string[];
  /** Set by check: recorded VMs that belong to no machine any more; absent if there are none. */
  abandoned?: string[];
}

/** Recorded machines at the start of a run. */
export type Recorded = Pick<RecordedCluster, "vms" | "leaving">;

export const mcisName = ({ infrastructure }: Pick<McisInputs, "infrastructure">): string =>
  `MCIS ${infrastructure}`;

/** Returns machine → name of its VM. */
export const vmNames = (vms: Recorded["vms"]): Record<string, string> =>
  Object.fromEntries(Object.entries(vms).map(([machine, { vm }]) => [machine, vm]));

export type McisOutputs = McisInputs & Recorded & Pick<RecordedCluster, "failure">;

/**
 * The VMs of a cluster: an MCIS (`mcis`) or infra (`infra`). Creates missing VMs and replaces VMs that failed to
 * start. A surplus machine keeps its VM until it has left the cluster.
 */
export class TumblebugMcis extends resourceClass<
  McisInputs,
  McisOutputs & Pick<Required<McisInputs>, "known">,
  "known" | "leaving"
>("tumblebug/TumblebugMcis", { outputs: ["vms", "known", "leaving", "failure"], secrets: ["server"] }) {}

export interface TumblebugVmInputs {
  server: ServerInputs;
  namespace: string;
  infrastructure: string;
  /** Name of the machine in the cluster. */
  machine: string;
  /** Name of its VM on the server. */
  vm: string;
  timeoutSeconds: number;
}

/**
 * The VM of one machine, which TumblebugMcis creates. Deleting this resource deletes the VM. The engine deletes
 * resources after all updates, and dependents first, so the node group, even one that is itself deleted, has already
 * drained the machine and deleted its Node. On destroy nothing is done here, because of `deletedWith` the MCIS.
 */
export class TumblebugVm extends resourceClass<TumblebugVmInputs>("tumblebug/TumblebugVm", {
  secrets: ["server"],
}) {}

export interface TumblebugLoadBalancerInputs {
  server: ServerInputs;
  namespace: string;
  infrastructure: string;
  /** VM group of the control planes. */
  group: string;
  /** Port of the listener. */
  port: number;
  /** Port of the control planes. */
  targetPort: number;
  /** Names of its machines. */
  machines: string[];
  /** Machine → name of its VM. */
  vms: Record<string, string>;
  /** Recorded address or "", so that the address is known in a preview that changes the load balancer. */
  recorded: string;
  /** Deadline for the load balancer to get an address, in seconds. */
  timeoutSeconds: number;
  steps?: string[];
}

export interface TumblebugLoadBalancerOutputs extends TumblebugLoadBalancerInputs {
  /** IP address or DNS name. */
  address: string;
}

/** A cloud load balancer for the control planes: the cluster's endpoint. */
export class TumblebugLoadBalancer extends resourceClass<
  TumblebugLoadBalancerInputs,
  TumblebugLoadBalancerOutputs
>("tumblebug/TumblebugLoadBalancer", { outputs: ["address"], secrets: ["server"] }) {
  /** Address of the load balancer: the recorded one, or else the one of the new load balancer. */
  get endpoint(): pulumi.Output<string> {
    return this.recorded.apply((recorded) => (recorded === "" ? this.address : pulumi.output(recorded)));
  }
}
