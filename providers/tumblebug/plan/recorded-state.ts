import { CONTROL_PLANE_GROUP } from "../../kubeadm/plan/machine";
import { namesIn, type StateResources } from "../../../lib/pulumi/state-resources";
import type { Slot } from "./groups";
import type { MachineVm } from "./machine-vm";
import type { FirewallRule } from "./model";

/** What the stack's state contains of a cluster from earlier runs. */
export interface RecordedCluster {
  /** Owner tag of the cluster's objects; absent before the first run. */
  mark?: string;
  /** Machine → its VM. */
  vms: Record<string, MachineVm>;
  /** Machine → VM of machines that are being removed. */
  leaving: Record<string, string>;
  /** Machines with a VM, with their recorded configuration. */
  slots: Slot[];
  controlPlanes: RecordedControlPlanes;
  /** Security group → rules that a refresh found missing. */
  goneRules: Record<string, FirewallRule[]>;
  /** Address of the control planes' load balancer; "" if there is none. */
  balancerAddress: string;
  /** Failure of the last run that changed the VMs. */
  failure?: { reason: string; message: string };
  /** Whether an earlier run completed the cluster. */
  isComplete: boolean;
}

/** Names of a cluster's control planes. */
export interface RecordedControlPlanes {
  /** Control planes that may be etcd members. */
  members: string[];
  /** Members that the last run was meant to keep. */
  kept: string[];
  /** Control planes that have joined as Nodes. */
  joined: string[];
}

const TYPE = "pulumi-nodejs:dynamic/foresail:";

/** Reads a cluster from a stack's state. @param cluster name of the cluster's component */
export function recordedCluster(cluster: string, resources: StateResources): RecordedCluster {
  const outputsOf = (type: string, name: string): Readonly<Record<string, unknown>> | undefined => {
    const found = Object.entries(resources).find(
      ([urn, resource]) => resource.type === TYPE + type && urn.endsWith(`::${name}`),
    );
    return found && (found[1].outputs ?? {});
  };
  const plan = outputsOf("TumblebugPlan", `${cluster}-plan`) ?? {};
  const mcis = outputsOf("TumblebugMcis", `${cluster}-machines`) ?? {};
  const { address } = outputsOf("TumblebugLoadBalancer", `${cluster}-api`) ?? {};
  const planes = outputsOf("NodeGroup", `${cluster}-${CONTROL_PLANE_GROUP}`) ?? {};
  const vms = (mcis["vms"] ?? {}) as RecordedCluster["vms"];
  return {
    ...(typeof plan["mark"] === "string" ? { mark: plan["mark"] } : {}),
    vms,
    goneRules: Object.fromEntries(
      Object.values(resources).flatMap(({ type, outputs: { name, gone } = {} }) =>
        type === `${TYPE}TumblebugSecurityGroup` && Array.isArray(gone) && gone.length > 0
          ? [[String(name), gone as FirewallRule[]]]
          : [],
      ),
    ),
    slots: ((mcis["slots"] ?? []) as Slot[]).filter(({ machine }) => Object.hasOwn(vms, machine)),
    controlPlanes: {
      members: namesIn(planes["members"]),
      kept: namesIn(planes["machines"]),
      joined: namesIn(planes["nodes"]),
    },
    leaving: (mcis["leaving"] ?? {}) as RecordedCluster["leaving"],
    balancerAddress: typeof address === "string" ? address : "",
    ...(mcis["failure"] ? { failure: mcis["failure"] as NonNullable<RecordedCluster["failure"]> } : {}),
    isComplete: outputsOf("NodeRollout", `${cluster}-rollout`) !== undefined,
  };
}
