import { complete } from "./complete";
import type { LeftOut } from "./left-out";
import { decide, dueNodes, withoutAgent, type NextSteps } from "./next";
import { notesOf } from "./notes";
import type { RolloutNode } from "./observed";
import { refusalsOf } from "./refusals";
import { situationOf, type Situation } from "./situation";
import type { RolloutStep } from "./step";
import { followingWaves } from "./waves";
import type { RolloutOptions, RolloutWish } from "./wish";

export { describeRolloutStep, type RolloutStep } from "./step";

/** A whole rollout, as a preview lists it. */
export interface RolloutPlan {
  /** in the order in which nodes are begun; nodes of one wave together */
  steps: RolloutStep[];
  /** why it may not begin, or would stop on its way; with any, nothing is to be begun */
  refusals: string[];
  /** remarks for the reader that are not steps */
  notes: string[];
  /** workers that nobody reaches, which the steps pass over */
  leftOut: readonly LeftOut[];
}

/**
 * Every step from here to the wish: `nextSteps` asked again and again, each time with the nodes as the steps before
 * leave them. A node that is not Ready is taken to become so, with a note.
 */
export function planRollout(
  nodes: readonly RolloutNode[],
  wish: RolloutWish,
  options: Pick<RolloutOptions, "agents" | "unreached"> = {},
): RolloutPlan {
  const situation = situationOf(nodes, wish, options);
  const { leftOut } = situation;
  const refusals = refusalsOf(situation);
  if (refusals.length > 0) return { steps: [], refusals, notes: [], leftOut };
  const notes = notesOf(situation, nodes);
  // first of all: a rollout whose agents are missing would open a node and wait for nobody
  const unspoken = options.agents === "assumed" ? [] : withoutAgent(dueNodes(situation));

  const steps: RolloutStep[] = [];
  let at = { version: undefined as string | undefined, pass: 0, wave: 0 };
  for (;;) {
    const next = decide(situation, { agents: "assumed" });
    const now = next.finish.length > 0 ? next.finish : next.begin;
    if (now.length === 0) {
      if (next.done) return { steps, refusals: unspoken, notes, leftOut };
      if (heal(situation)) notes.push(...next.waiting);
      else return { steps, refusals: [...unspoken, ...standstill(next)], notes, leftOut };
      continue;
    }
    const version = passOf(next, now);
    if (version !== at.version) at = { version, pass: at.pass + 1, wave: 0 };
    const carryOut = (wave: readonly RolloutStep[]) => {
      at.wave++;
      for (const step of wave) {
        steps.push({ ...step, pass: at.pass, wave: at.wave });
        complete(situation, step);
      }
    };
    carryOut(now);
    const group = situation.groups.find(({ pool }) => pool.name === now[0]?.pool);
    if (group && next.finish.length === 0 && version !== undefined) {
      followingWaves(situation, group, { pass: version, size: now.length }, carryOut);
    }
  }
}

/** The version that names the pass: an earlier run's nodes may still end the one before. */
function passOf({ version }: NextSteps, now: readonly RolloutStep[]): string | undefined {
  return now.some(({ resumed, to }) => !resumed || to === version) ? version : now[0]?.to;
}

function standstill({ stop, waiting }: NextSteps): string[] {
  if (stop !== undefined) return [stop];
  return waiting.length > 0 ? waiting : ["nothing can be begun, and not everything is done"];
}

/** Takes every node that rolls to be Ready. @returns whether one was not */
function heal({ groups, controlPlanes, resting }: Situation): boolean {
  let ill = false;
  for (const nodes of [...groups.map((group) => group.nodes), controlPlanes]) {
    nodes.forEach((node, index) => {
      if (node.ready || (resting.has(node.name) && !node.controlPlane)) return;
      ill = true;
      nodes[index] = { ...node, ready: true };
    });
  }
  return ill;
}
