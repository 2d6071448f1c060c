import type { RolloutNode } from "./observed";
import type { RolloutState } from "./state";
import { staysCordoned, type RolloutStep } from "./step";
import { desiredSoftware } from "./desired";

/** Returns the node as it is after its step. */
function completed(node: RolloutNode, step: RolloutStep, desired: RolloutState["wish"]): RolloutNode {
  const software = desiredSoftware(desired, step.to);
  return {
    ...node,
    kubeletVersion: step.to,
    ready: true,
    unschedulable: staysCordoned(node),
    cordonedBefore: false,
    changesAllowed: false,
    desired: { ...node.desired, ...software },
    current: { ...node.current, ...software },
  };
}

/** Applies a step to the state of a forecast, in place. */
export function complete(state: RolloutState, step: RolloutStep): void {
  const { wish: desired, groups, controlPlanes } = state;
  const group = groups.find(({ pool }) => pool.name === step.pool);
  for (const nodes of [group?.nodes ?? [], ...(step.controlPlane ? [controlPlanes] : [])]) {
    const index = nodes.findIndex(({ name }) => name === step.node);
    if (index >= 0) nodes[index] = completed(nodes[index] as RolloutNode, step, desired);
  }
  if (step.how === "kubeadm upgrade apply") desired.clusterVersion = step.to;
}
