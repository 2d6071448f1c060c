import type * as pulumi from "@pulumi/pulumi";
import type { Slot } from "../plan/groups";
import type { MachineVm } from "../plan/machine-vm";
import { DynamicResource } from "../../../lib/pulumi/dynamic-resource";
import { withSecrets } from "./tumblebug-object";

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

export interface TumblebugMcisArgs {
  server: pulumi.Input<object>;
  namespace: string;
  infrastructure: string;
  mark: pulumi.Input<string>;
  /** Desired machines. A change creates VMs of new machines; TumblebugVm deletes VMs of surplus machines. */
  slots: Slot[];
  /** Connection → objects that its VMs are created from: {@link ConnectionObjects}. */
  objects: pulumi.Input<Record<string, pulumi.Input<object>>>;
  /** "<connection> <spec>" → the server's name of the spec. */
  specs: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** "<connection> <image>" → the server's name of the image. */
  images: pulumi.Input<Record<string, pulumi.Input<string>>>;
  user: string;
  /** Deadline for VMs to start, in seconds. */
  timeoutSeconds: number;
  /** Recorded machines, and machines that are being removed. */
  recorded: { vms: Record<string, MachineVm>; leaving: Record<string, string> };
}

/**
 * The VMs of a cluster: an MCIS (`mcis`) or infra (`infra`). Creates missing VMs and replaces VMs that failed to
 * start. A surplus machine keeps its VM until it has left the cluster.
 */
export class TumblebugMcis extends DynamicResource {
  /** Machine → its VM. */
  declare readonly vms: pulumi.Output<Record<string, MachineVm>>;
  /** Machine → VM of unchanged machines; known in every preview. */
  declare readonly known: pulumi.Output<Record<string, MachineVm>>;
  /** Machine → VM of machines that are being removed; known in every preview. */
  declare readonly leaving: pulumi.Output<Record<string, string>>;

  constructor(name: string, args: TumblebugMcisArgs, opts?: pulumi.CustomResourceOptions) {
    const outputs = ["vms", "known", "leaving", "failure"];
    super("tumblebug/TumblebugMcis", name, { ...args }, outputs, withSecrets(opts));
  }
}
