import type { CommonStep } from "../../../../lib/steps/steps";
import type { RolloutNode } from "./observed";

/** A worker that a rollout leaves as it is because its machine is unreachable. The next run continues with it. */
export interface LeftOut {
  node: string;
  /** Why it is left out, with the details that are known. */
  reason: string;
}

/**
 * Returns why a worker is out of reach, or undefined: its kubelet stopped reporting, or SSH did not reach its
 * machine.
 */
export function outOfReach(node: RolloutNode, unreached: readonly string[]): string | undefined {
  if (node.unreachable) return `its Node is not Ready (${node.reason ?? "the kubelet has not reported"})`;
  return unreached.includes(node.name) ? "its machine could not be reached over SSH" : undefined;
}

/** Returns the step for the resource that would have changed the machine. */
export function leftOutStep({ node: machine, reason: why }: LeftOut): CommonStep {
  return { kind: "leftOut", machine, why };
}

/** Returns the message at the end of a run that completed all nodes but these. */
export function onlyLeftOut(leftOut: readonly LeftOut[]): string {
  return `every other node is done; ${leftOut.map(({ node, reason }) => `${node} was left out, ${reason}`).join("; ")}`;
}

export const LEFT_OUT_NEXT =
  "start its machine and run the command again; or pause it (rollout.pausedNodes), or take it out of the configuration and list it under `lost`";
