import { isDeepStrictEqual } from "node:util";
import { CONTROL_PLANE_GROUP } from "../../kubeadm/plan/cluster/machine";
import { recordedGroup, type RecordedGroup } from "../../kubeadm/plan/machines/slots";
import { RecordedResources, type StateResources } from "../../../lib/pulumi/state";
import type { Slot } from "./groups";
import type { PlannedSlot } from "./machine-plan";
import type { FirewallRule, MachineVm } from "./model";
import {
  agentsResource,
  apiBalancerResource,
  groupResource,
  initResource,
  preparedMachine,
  rolloutResource,
} from "../../kubeadm/plan/cluster/resource-names";
import { listed } from "../../../lib/text/quote";
import type { Reason } from "./reasons";

/** Names of the resources by which the state of a cluster is read. */
export const planResource = (cluster: string): string => `${cluster}-plan`;
export const machinesResource = (cluster: string): string => `${cluster}-machines`;

/** What the stack's state contains of a cluster from earlier runs. */
export interface RecordedCluster {
  /** Owner tag of the cluster's objects; absent before the first run. */
  mark?: string;
  /** Machine → its VM. */
  vms: Record<string, MachineVm>;
  /** Machine → VM of machines that are being removed, or that the last run has removed. */
  leaving: Record<string, string>;
  /** Machines whose VM is deleted by a resource of its own, or that may be in the cluster. */
  held: string[];
  /** Machines that the last run was to have, and those that earlier ones were to have and could not record. */
  planned: PlannedSlot[];
  /** Those of them that no run recorded, for the state of the next run. */
  unrecorded: PlannedSlot[];
  /** VMs that the last run was to delete because no machine has them. */
  unused: string[];
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
  /** The step on the machines at which the last run ended, if it did not complete the cluster. */
  unfinished?: { reason: Reason; message: string };
  /** Whether an earlier run completed the cluster. */
  isComplete: boolean;
}

/** Reads a cluster from a stack's state. @param cluster name of the cluster's component */
export function recordedCluster(cluster: string, resources: StateResources): RecordedCluster {
  const state = new RecordedResources(resources);
  const plan = state.outputs("TumblebugPlan", planResource(cluster)) ?? {};
  const { slots, leaving, unused, failure, ...mcis } =
    state.outputs("TumblebugMcis", machinesResource(cluster)) ?? {};
  const { address } = state.outputs("TumblebugLoadBalancer", apiBalancerResource(cluster)) ?? {};
  const { mark } = plan;
  const vms = (mcis["vms"] ?? {}) as RecordedCluster["vms"];
  const planned = distinctMachines([...machinesOf(plan["slots"]), ...machinesOf(plan["unrecorded"])]);
  const known = new Set([...Object.keys(vms), ...Object.keys(leaving ?? {})]);
  const machines = ((slots ?? []) as Slot[]).filter(({ machine }) => Object.hasOwn(vms, machine));
  const isComplete = state.outputs("NodeRollout", rolloutResource(cluster)) !== undefined;
  const hasAgents = state.outputs("NodeAgents", agentsResource(cluster)) !== undefined;
  const unfinished = isComplete || hasAgents ? undefined : unfinishedStep(cluster, state, machines);
  return {
    ...(typeof mark === "string" ? { mark } : {}),
    vms,
    planned,
    // a run whose machines the MCIS has recorded left none
    unrecorded: isDeepStrictEqual(slots, plan["slots"])
      ? []
      : planned.filter(({ machine }) => !known.has(machine)),
    unused: (unused ?? []) as string[],
    goneRules: Object.fromEntries(
      state
        .of("TumblebugSecurityGroup")
        .flatMap(({ outputs: { name, gone } }) =>
          Array.isArray(gone) && gone.length > 0 ? [[String(name), gone as FirewallRule[]]] : [],
        ),
    ),
    slots: machines,
    controlPlanes: recordedGroup(state.outputs("NodeGroup", groupResource(cluster, CONTROL_PLANE_GROUP))),
    leaving: (leaving ?? {}) as RecordedCluster["leaving"],
    held: heldMachines(state),
    balancerAddress: typeof address === "string" ? address : "",
    ...(failure ? { failure: failure as NonNullable<RecordedCluster["failure"]> } : {}),
    ...(unfinished ? { unfinished } : {}),
    isComplete,
  };
}

/** A killed run may have recorded the VM of a machine, and no resource of that machine. */
const heldMachines = (state: RecordedResources): string[] => [
  ...state.of("TumblebugVm").map(({ outputs }) => String(outputs["machine"])),
  ...state
    .of("NodeGroup")
    .flatMap(({ outputs }) => ((outputs["machines"] ?? []) as { name: string }[]).map(({ name }) => name)),
];

const machinesOf = (slots: unknown): PlannedSlot[] =>
  ((slots ?? []) as PlannedSlot[]).map(({ machine, vmGroup }) => ({ machine, vmGroup }));

const distinctMachines = (all: readonly PlannedSlot[]): PlannedSlot[] => [
  ...new Map(all.map((one) => [one.machine, one])).values(),
];

const ended = (reason: Reason, step: string) => ({
  reason,
  message: `the last run ended at ${step}; the next \`up\` continues, and names the machine and the cause if it fails`,
});

/**
 * Returns the step on the machines at which a run ended that did not complete the cluster: the state has what the steps
 * before it made. CB-Ladybug's code says the same of a cluster.
 */
function unfinishedStep(
  cluster: string,
  state: RecordedResources,
  slots: readonly Slot[],
): { reason: Reason; message: string } | undefined {
  if (slots.length === 0) return undefined;
  const commands = state.of("command:remote:Command").map(({ name }) => preparedMachine(cluster, name));
  const unprepared = slots.map(({ machine }) => machine).filter((machine) => !commands.includes(machine));
  if (unprepared.length > 0)
    return ended(
      "SetupBoostrapFailedReason",
      `the preparation of ${listed(unprepared, { most: MOST_NAMES })}`,
    );
  if (!state.outputs("ClusterInit", initResource(cluster)))
    return ended("InitControlPlaneFailedReason", "kubeadm init");
  const planes = groupResource(cluster, CONTROL_PLANE_GROUP);
  const groups = state.of("NodeGroup").map(({ name }) => name);
  if (!groups.includes(planes)) return ended("SetupNetworkCNIFailedReason", "the pod network");
  // a group that failed is in the state, and the groups after it are not
  const hasWorkers = slots.some(({ role }) => role === "worker");
  if (hasWorkers && groups.some((name) => name !== planes && name.startsWith(`${cluster}-`)))
    return ended("JoinWorkerFailedReason", "the workers");
  return ended("JoinControlPlaneFailedReason", "the join of the control planes");
}

const MOST_NAMES = 5;

/** A cluster's phase as in CB-Ladybug; `reason` is CB-Ladybug's code in phase Failed, and "" otherwise. */
export interface ClusterStatus {
  phase: "Pending" | "Provisioning" | "Provisioned" | "Failed" | "Deleting";
  reason: string;
  message: string;
}

export const PROVISIONED: ClusterStatus = { phase: "Provisioned", reason: "", message: "" };

/**
 * Returns the status of a cluster from the state at the start of a run.
 *
 * @param hasBalancer whether the configuration has a load balancer, which the machines' steps wait for
 */
export function recordedStatus(recorded: RecordedCluster, hasBalancer = false): ClusterStatus {
  const { mark, failure, unfinished, balancerAddress, isComplete } = recorded;
  if (failure) return { phase: "Failed", ...failure };
  if (unfinished && hasBalancer && balancerAddress === "")
    return { phase: "Failed", ...ended("CreateNLBFailedReason", "the load balancer") };
  if (unfinished) return { phase: "Failed", ...unfinished };
  if (isComplete) return PROVISIONED;
  return mark === undefined
    ? { phase: "Pending", reason: "", message: "nothing is made yet" }
    : {
        phase: "Provisioning",
        reason: "",
        message: "an earlier run did not end; the next `up` continues",
      };
}
