import type * as pulumi from "@pulumi/pulumi";
import type { Slot } from "../plan/groups";
import type { MachineVm } from "../plan/machine-vm";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";
import { withSecrets } from "./tumblebug-object";

/** What the VMs of a connection are made from, by the names under which the server has it. */
export interface ConnectionObjects {
  vNet: string;
  subnet: string;
  /** Security group of every machine. */
  nodes: string;
  /** Of control planes besides; absent where there are none. */
  controlPlanes?: string;
  sshKey: string;
}

export interface TumblebugMcisArgs {
  server: pulumi.Input<object>;
  namespace: string;
  infrastructure: string;
  mark: pulumi.Input<string>;
  /** The machines that are wanted. Change: makes the VMs of new ones; those of others go by TumblebugVm. */
  slots: Slot[];
  /** Connection → what its VMs are made from: {@link ConnectionObjects}. */
  objects: pulumi.Input<Record<string, pulumi.Input<object>>>;
  /** "<connection> <spec>" → the server's name of it. */
  specs: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** "<connection> <image>" → the server's name of it. */
  images: pulumi.Input<Record<string, pulumi.Input<string>>>;
  user: string;
  /** How long the machines may need to come up, in seconds. */
  timeoutSeconds: number;
  /** The machines that the state has, and those that are to go. */
  recorded: { vms: Record<string, MachineVm>; leaving: Record<string, string> };
}

/**
 * The VMs of a cluster: an MCIS, or infra as it is called today. It makes what is missing, and makes anew what never
 * came up; a machine that is no longer wanted keeps its VM here, until the cluster has let it go.
 */
export class TumblebugMcis extends DynamicResource {
  /** Machine → its VM. */
  declare readonly vms: pulumi.Output<Record<string, MachineVm>>;
  /** The same, of the machines that stay as they are: known in every preview. */
  declare readonly known: pulumi.Output<Record<string, MachineVm>>;
  /** Machine → VM of those that are to go; known in every preview. */
  declare readonly leaving: pulumi.Output<Record<string, string>>;

  constructor(name: string, args: TumblebugMcisArgs, opts?: pulumi.CustomResourceOptions) {
    const outputs = ["vms", "known", "leaving", "failure"];
    super("tumblebug/TumblebugMcis", name, { ...args }, outputs, withSecrets(opts));
  }
}
