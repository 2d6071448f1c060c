import { CONTROL_PLANE_GROUP } from "../../kubeadm/plan/machine";
import { namesIn, type StateResources } from "../../../lib/pulumi/state-resources";
import type { Slot } from "./groups";
import type { MachineVm } from "./machine-vm";
import type { FirewallRule } from "./model";

/** What an earlier run left of a cluster. */
export interface RecordedCluster {
  /** What the cluster's objects carry; absent before the first run has begun. */
  mark?: string;
  /** Machine → its VM. */
  vms: Record<string, MachineVm>;
  /** Machine → VM of those that are to go. */
  leaving: Record<string, string>;
  /** The machines that have a VM, as they were asked for. */
  slots: Slot[];
  controlPlanes: RecordedControlPlanes;
  /** Security group → rules that a refresh found closed by others. */
  goneRules: Record<string, FirewallRule[]>;
  /** Where the control planes' load balancer is; "" when there is none. */
  balancerAddress: string;
  /** Why the last run that came to the VMs failed there. */
  failure?: { reason: string; message: string };
  /** Whether every node is there. */
  isComplete: boolean;
}

/** Control planes of a cluster, by name. */
export interface RecordedControlPlanes {
  /** Those that may have a part in etcd. */
  members: string[];
  /** Those of the members that the last run was to keep. */
  kept: string[];
  /** Those that have become Nodes. */
  joined: string[];
}

const TYPE = "pulumi-nodejs:dynamic/foresail:";

/** Reads what a stack's state has of a cluster, by the name of its component. */
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
