import * as pulumi from "@pulumi/pulumi";
import { DynamicResource, type DeepInput, type ResourceArgs } from "../../../lib/pulumi/dynamic-resource";
import type { Slot } from "../plan/groups";
import type { Generation, MachineVm } from "../plan/model";
import type { ConnectionFacts, DesiredTumblebug, UnmetRequirement } from "../plan/requirements";
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

/** Plain values, except for the server's credentials, so that a preview knows all of them. */
type TumblebugPlanArgs = Omit<TumblebugPlanInputs, "server" | "found" | "spread"> & {
  server: DeepInput<ServerInputs>;
};

export interface ObjectName {
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
export class TumblebugPlan extends DynamicResource<TumblebugPlanOutputs> {
  /** Known in every preview that reaches the server. */
  declare readonly found: pulumi.Output<FoundOnServer>;
  /** Owner tag in the descriptions of this stack's objects. */
  declare readonly mark: pulumi.Output<string>;

  constructor(name: string, args: TumblebugPlanArgs, opts?: pulumi.CustomResourceOptions) {
    super(
      "tumblebug/TumblebugPlan",
      name,
      args,
      { outputs: ["found", "mark", "spread"], secrets: ["server"] },
      opts,
    );
  }
}

/** The server's names of the objects that a connection's VMs are created from. */
export interface ConnectionObjects {
  vNet: string;
  subnet: string;
  /** Security group of all machines. */
  nodes: string;
  /** Additional security group of control planes; absent if there are none. */
  controlPlanes?: string;
  sshKey: string;
}

/** Inputs of TumblebugMcis. */
export interface McisInputs {
  server: ServerInputs;
  namespace: string;
  infrastructure: string;
  mark: string;
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
  /** Recorded machines, and machines that are being removed; used by check only. */
  recorded?: Recorded;
  /** Set by check. */
  steps?: string[];
  /** Set by check: unchanged machines. */
  known?: Record<string, MachineVm>;
  /** Set by check: machine → VM of machines that are being removed. */
  leaving?: Record<string, string>;
}

/** Recorded machines at the start of a run. */
export interface Recorded {
  vms: Record<string, MachineVm>;
  /** Machine → VM of machines that are being removed. */
  leaving: Record<string, string>;
}

export interface McisOutputs extends McisInputs {
  vms: Record<string, MachineVm>;
  leaving: Record<string, string>;
  /** Failure of the last run, for the cluster's phase. */
  failure?: { reason: string; message: string };
}

/**
 * The VMs of a cluster: an MCIS (`mcis`) or infra (`infra`). Creates missing VMs and replaces VMs that failed to
 * start. A surplus machine keeps its VM until it has left the cluster.
 */
export class TumblebugMcis extends DynamicResource<McisOutputs> {
  /** Machine → its VM. */
  declare readonly vms: pulumi.Output<Record<string, MachineVm>>;
  /** Machine → VM of unchanged machines; known in every preview. */
  declare readonly known: pulumi.Output<Record<string, MachineVm>>;
  /** Machine → VM of machines that are being removed; known in every preview. */
  declare readonly leaving: pulumi.Output<Record<string, string>>;

  constructor(
    name: string,
    args: ResourceArgs<McisInputs, "known" | "leaving">,
    opts?: pulumi.CustomResourceOptions,
  ) {
    const outputs: (keyof McisOutputs)[] = ["vms", "known", "leaving", "failure"];
    super("tumblebug/TumblebugMcis", name, args, { outputs, secrets: ["server"] }, opts);
  }
}

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
export class TumblebugVm extends DynamicResource<TumblebugVmInputs> {
  declare readonly vm: pulumi.Output<string>;

  constructor(name: string, args: ResourceArgs<TumblebugVmInputs>, opts?: pulumi.CustomResourceOptions) {
    super("tumblebug/TumblebugVm", name, args, { secrets: ["server"] }, opts);
  }
}

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
export class TumblebugLoadBalancer extends DynamicResource<TumblebugLoadBalancerOutputs> {
  declare readonly address: pulumi.Output<string>;
  declare readonly recorded: pulumi.Output<string>;

  constructor(
    name: string,
    args: ResourceArgs<TumblebugLoadBalancerInputs>,
    opts?: pulumi.CustomResourceOptions,
  ) {
    super("tumblebug/TumblebugLoadBalancer", name, args, { outputs: ["address"], secrets: ["server"] }, opts);
  }

  /** Address of the load balancer: the recorded one, or else the one of the new load balancer. */
  get endpoint(): pulumi.Output<string> {
    return this.recorded.apply((recorded) => (recorded === "" ? this.address : pulumi.output(recorded)));
  }
}
