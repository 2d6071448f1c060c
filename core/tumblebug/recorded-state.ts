import type { StateResources } from "../state-resources";
import type { MachineVm } from "./machine-vm";

/** What an earlier run left of a cluster. */
export interface RecordedCluster {
  /** What the cluster's objects carry; absent before the first run has begun. */
  mark?: string;
  /** Machine → its VM. */
  vms: Record<string, MachineVm>;
  /** Machine → VM of those that are to go. */
  leaving: Record<string, string>;
  /** Why the last run that came to the VMs failed there. */
  failure?: { reason: string; message: string };
  /** Whether every node is there. */
  isComplete: boolean;
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
  return {
    ...(typeof plan["mark"] === "string" ? { mark: plan["mark"] } : {}),
    vms: (mcis["vms"] ?? {}) as RecordedCluster["vms"],
    leaving: (mcis["leaving"] ?? {}) as RecordedCluster["leaving"],
    ...(mcis["failure"] ? { failure: mcis["failure"] as NonNullable<RecordedCluster["failure"]> } : {}),
    isComplete: outputsOf("NodeRollout", `${cluster}-rollout`) !== undefined,
  };
}
