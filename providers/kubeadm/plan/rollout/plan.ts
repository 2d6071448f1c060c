import { complete } from "./complete";
import type { LeftOut } from "./left-out";
import { decide, dueNodes, withoutReportingAgent, type NextSteps } from "./next";
import { notesOf } from "./notes";
import type { RolloutNode } from "./observed";
import { refusalsOf } from "./refusals";
import { rolloutState, type RolloutState } from "./state";
import type { RolloutStep } from "./step";
import { followingWaves } from "./waves";
import type { RolloutOptions, DesiredRollout } from "./desired";

export { describeRolloutStep, type RolloutStep } from "./step";

/** A whole rollout, as a preview lists it. */
export interface RolloutPlan {
  /** Steps in the order in which nodes are begun; the nodes of one wave roll together. */
  steps: RolloutStep[];
  /** Why the rollout may not begin, or would stop midway. If there is any, nothing is begun. */
  refusals: string[];
  /** Remarks for the reader that are not steps. */
  notes: string[];
  /** Unreachable workers, which the steps skip. */
  leftOut: readonly LeftOut[];
}

/**
 * Returns every step from here to the desired state: repeats `nextSteps`, each time with the nodes as the earlier
 * steps leave them. Assumes that nodes which are not Ready become Ready, and notes it.
 */
export function planRollout(
  nodes: readonly RolloutNode[],
  desired: DesiredRollout,
  options: Pick<RolloutOptions, "agents" | "unreached"> = {},
): RolloutPlan {
  const state = rolloutState(nodes, desired, options);
  const { leftOut } = state;
  const refusals = refusalsOf(state);
  if (refusals.length > 0) return { steps: [], refusals, notes: [], leftOut };
  const notes = notesOf(state, nodes);
  // checked before any step: without its agent, a node would be opened and the rollout would wait in vain
  const unreported = options.agents === "assumed" ? [] : withoutReportingAgent(dueNodes(state));

  const steps: RolloutStep[] = [];
  let at = { version: undefined as string | undefined, pass: 0, wave: 0 };
  for (;;) {
    const next = decide(state, { agents: "assumed" });
    const now = next.finish.length > 0 ? next.finish : next.begin;
    if (now.length === 0) {
      if (next.done) return { steps, refusals: unreported, notes, leftOut };
      if (repair(state)) notes.push(...next.waiting);
      else return { steps, refusals: [...unreported, ...standstill(next)], notes, leftOut };
      continue;
    }
    const version = passOf(next, now);
    if (version !== at.version) at = { version, pass: at.pass + 1, wave: 0 };
    const carryOut = (wave: readonly RolloutStep[]) => {
      at.wave++;
      for (const step of wave) {
        steps.push({ ...step, pass: at.pass, wave: at.wave });
        complete(state, step);
      }
    };
    carryOut(now);
    const group = state.groups.find(({ pool }) => pool.name === now[0]?.pool);
    if (group && next.finish.length === 0 && version !== undefined) {
      followingWaves(state, group, { pass: version, size: now.length }, carryOut);
    }
  }
}

/** Returns the version that names the pass: nodes of an earlier run may still finish the previous pass. */
function passOf({ version }: NextSteps, now: readonly RolloutStep[]): string | undefined {
  return now.some(({ resumed, to }) => !resumed || to === version) ? version : now[0]?.to;
}

function standstill({ stop, waiting }: NextSteps): string[] {
  if (stop !== undefined) return [stop];
  return waiting.length > 0 ? waiting : ["nothing can be begun, and not everything is done"];
}

/**
 * Marks every node that takes part in the rollout as Ready.
 *
 * @returns whether any was not Ready
 */
function repair({ groups, controlPlanes, resting }: RolloutState): boolean {
  let notReady = false;
  for (const nodes of [...groups.map((group) => group.nodes), controlPlanes]) {
    nodes.forEach((node, index) => {
      if (node.ready || (resting.has(node.name) && !node.controlPlane)) return;
      notReady = true;
      nodes[index] = { ...node, ready: true };
    });
  }
  return notReady;
}
