import { CONTROL_PLANE_GROUP } from "../../kubeadm/plan/machine";
import { recordedGroup, type RecordedGroup } from "../../kubeadm/plan/machines/slots";
import { RecordedResources, type StateResources } from "../../../lib/pulumi/state";
import type { Slot } from "./groups";
import type { FirewallRule, MachineVm } from "./model";
import { apiBalancerResource, groupResource, rolloutResource } from "../../kubeadm/plan/resource-names";

/** Names of the resources by which the state of a cluster is read. */
export const planResource = (cluster: string): string => `${cluster}-plan`;
export const machinesResource = (cluster: string): string => `${cluster}-machines`;

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
  /** The control planes that may be etcd members. */
  controlPlanes: RecordedGroup;
  /** Security group → rules that a refresh found missing. */
  goneRules: Record<string, FirewallRule[]>;
  /** Address of the control planes' load balancer; "" if there is none. */
  balancerAddress: string;
  /** Failure of the last run that changed the VMs. */
  failure?: { reason: string; message: string };
  /** Whether an earlier run completed the cluster. */
  isComplete: boolean;
}

/** Reads a cluster from a stack's state. @param cluster name of the cluster's component */
export function recordedCluster(cluster: string, resources: StateResources): RecordedCluster {
  const state = new RecordedResources(resources);
  const { mark } = state.outputs("TumblebugPlan", planResource(cluster)) ?? {};
  const { slots, leaving, failure, ...mcis } =
    state.outputs("TumblebugMcis", machinesResource(cluster)) ?? {};
  const { address } = state.outputs("TumblebugLoadBalancer", apiBalancerResource(cluster)) ?? {};
  const vms = (mcis["vms"] ?? {}) as RecordedCluster["vms"];
  return {
    ...(typeof mark === "string" ? { mark } : {}),
    vms,
    goneRules: Object.fromEntries(
      state
        .of("TumblebugSecurityGroup")
        .flatMap(({ outputs: { name, gone } }) =>
          Array.isArray(gone) && gone.length > 0 ? [[String(name), gone as FirewallRule[]]] : [],
        ),
    ),
    slots: ((slots ?? []) as Slot[]).filter(({ machine }) => Object.hasOwn(vms, machine)),
    controlPlanes: recordedGroup(state.outputs("NodeGroup", groupResource(cluster, CONTROL_PLANE_GROUP))),
    leaving: (leaving ?? {}) as RecordedCluster["leaving"],
    balancerAddress: typeof address === "string" ? address : "",
    ...(failure ? { failure: failure as NonNullable<RecordedCluster["failure"]> } : {}),
    isComplete: state.outputs("NodeRollout", rolloutResource(cluster)) !== undefined,
  };
}

/** A cluster's phase as in CB-Ladybug; `reason` is CB-Ladybug's code in phase Failed, and "" otherwise. */
export interface ClusterStatus {
  phase: "Pending" | "Provisioning" | "Provisioned" | "Failed" | "Deleting";
  reason: string;
  message: string;
}

export const PROVISIONED: ClusterStatus = { phase: "Provisioned", reason: "", message: "" };

/** Returns the status of a cluster from the state at the start of a run. */
export function recordedStatus({ mark, failure, isComplete }: RecordedCluster): ClusterStatus {
  if (failure) return { phase: "Failed", ...failure };
  if (isComplete) return PROVISIONED;
  return mark === undefined
    ? { phase: "Pending", reason: "", message: "nothing is made yet" }
    : {
        ...{ phase: "Provisioning", reason: "" },
        message: "an earlier run did not end; the next `up` continues",
      };
}
