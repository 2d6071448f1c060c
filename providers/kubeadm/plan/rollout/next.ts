import type { LeftOut } from "./left-out";
import type { RolloutNode } from "./observed";
import { goalOf, isStarted } from "./open";
import { refusalsOf } from "./refusals";
import { isDueInPass, passVersion, rolloutState, wantedVersion, type RolloutState } from "./state";
import { stepTo, type RolloutStep } from "./step";
import { nextBatch, type RolloutBatch } from "./batch";
import type { RolloutOptions, DesiredRollout } from "./desired";

/** What a rollout may do now. */
export interface NextSteps {
  /** Nodes found with an open change window. They are finished before any other node is begun. */
  finish: RolloutStep[];
  /**
   * Nodes that may be begun now, all at once. Opening them in this order lets a later run resume exactly after a
   * kill.
   */
  begin: RolloutStep[];
  /** Why no other node may begin yet; may pass without a person's help. */
  waiting: string[];
  /** Nothing is due, and no change window is open. */
  done: boolean;
  /** Unreachable workers; `done` refers to all other nodes. */
  leftOut: readonly LeftOut[];
  /** Why no node may begin until a person changes something. */
  stop?: string;
  /** Version of the cluster's current pass. */
  version?: string;
}

/**
 * Returns what a rollout may do now, computed only from the Nodes and their annotations (seed 004). Calling it
 * again after each change, from any run, leads to the desired state. `pass` and `wave` of its steps are 1.
 */
export function nextSteps(
  nodes: readonly RolloutNode[],
  desired: DesiredRollout,
  options: RolloutOptions = {},
): NextSteps {
  const state = rolloutState(nodes, desired, options);
  const refusals = refusalsOf(state);
  if (refusals.length > 0) return { ...NOTHING, stop: refusals.join("; ") };
  return decide(state, options);
}

/** Works like `nextSteps`, for a state without refusals. */
export function decide(state: RolloutState, options: RolloutOptions = {}): NextSteps {
  const { wish: desired } = state;
  const version = passVersion(state);
  const begun = new Set(options.begun);
  const isLeftOut = new Set(state.leftOut.map(({ node }) => node));
  const open = state.groups.flatMap(({ pool, nodes }) =>
    nodes
      .filter(({ name, changesAllowed }) => (changesAllowed && !isLeftOut.has(name)) || begun.has(name))
      .map((node) => ({ node, pool: pool.name, started: begun.has(node.name) || isStarted(node) })),
  );
  const busy = new Set(open.filter(({ started }) => started).map(({ node }) => node.name));
  const returned = new Set(open.filter(({ started }) => !started).map(({ node }) => node.name));

  const wanted = (node: RolloutNode) => wantedVersion(node, version ?? desired.version, desired);
  // when the last kubelet of a pass changes, the cluster's pass advances before that kubelet's node has finished
  const ending = open.some(({ node, started }) => started && goalOf(node, version, state) !== wanted(node));
  const batch: RolloutBatch = version === undefined ? NOBODY : nextBatch(state, version, busy, returned);
  const unreported = options.agents === "assumed" ? [] : withoutReportingAgent(batch.candidates);
  const candidates = ending || unreported.length > 0 ? [] : batch.candidates;
  const goingOn = openOnes(candidates, returned);

  const found = open.filter(({ node }) => !begun.has(node.name));
  const finish = controlPlanesFirst(found).map(({ node, pool, started }) => {
    const to = started
      ? goalOf(node, version, state)
      : goingOn.has(node.name)
        ? wanted(node)
        : node.kubeletVersion;
    return stepTo(node, pool, desired, to);
  });
  const begin =
    found.length > 0
      ? []
      : candidates.map((node) => stepTo(node, batch.group?.pool.name ?? "", desired, wanted(node)));
  const more = batch.group !== undefined;
  return {
    finish,
    begin,
    waiting: [...batch.waiting, ...unreported],
    done: open.length === 0 && !more,
    leftOut: state.leftOut,
    ...(batch.stop !== undefined && open.length === 0 ? { stop: batch.stop } : {}),
    ...(version === undefined ? {} : { version }),
  };
}

const NOTHING: NextSteps = { finish: [], begin: [], waiting: [], done: false, leftOut: [] };

const NOBODY: RolloutBatch = { candidates: [], waiting: [] };

/**
 * Returns the candidates that are already open: an earlier run opened them and was killed before anything began.
 * Windows open in order, so an open candidate after a closed one had already finished and was only not closed.
 */
function openOnes(candidates: readonly RolloutNode[], returned: ReadonlySet<string>): ReadonlySet<string> {
  const closed = candidates.findIndex(({ name }) => !returned.has(name));
  return new Set(candidates.slice(0, closed < 0 ? undefined : closed).map(({ name }) => name));
}

/** Keeps one open control plane, if there is any, so that they finish one at a time and before any worker. */
function controlPlanesFirst<T extends { node: RolloutNode; started: boolean }>(open: T[]): T[] {
  const planes = open.filter(({ node }) => node.controlPlane);
  if (planes.length === 0) return open;
  return [planes.find(({ started }) => started) ?? (planes[0] as T)];
}

/** Returns a message for each node whose agent has not reported. */
export function withoutReportingAgent(nodes: readonly RolloutNode[]): string[] {
  return nodes
    .filter(({ agentReady }) => agentReady === undefined)
    .map(({ name }) => `${name} has no node agent that has spoken`);
}

/** Returns the nodes with something to do in the cluster's current pass. */
export function dueNodes(state: RolloutState): RolloutNode[] {
  const version = passVersion(state);
  if (version === undefined) return [];
  return state.groups.flatMap(({ nodes }) => nodes.filter((node) => isDueInPass(node, version, state)));
}
