import type { LeftOut } from "./left-out";
import type { RolloutNode } from "./observed";
import { goalOf, isStarted } from "./open";
import { refusalsOf } from "./refusals";
import { isDueInPass, passVersion, rolloutState, wantedVersion, type RolloutState } from "./state";
import { stepTo, type RolloutStep } from "./step";
import { nextBatch, type RolloutBatch } from "./batch";
import type { RolloutOptions, DesiredRollout } from "./desired";

/** What may happen now. */
export interface NextSteps {
  /** nodes found with an open change window: ended before any other is begun */
  finish: RolloutStep[];
  /** nodes that may be opened now, all of them at once; opened in this order, a killed run is resumed just where it was */
  begin: RolloutStep[];
  /** why nothing more may begin for the moment; it may pass by itself */
  waiting: string[];
  /** nothing is due, nothing is open */
  done: boolean;
  /** workers that nobody reaches: `done` is of all others */
  leftOut: readonly LeftOut[];
  /** why nothing may begin until a person changes something */
  stop?: string;
  /** the version of the pass that the cluster is in */
  version?: string;
}

/**
 * What a rollout may do now, from the Nodes and their annotations alone (seed 004): called again after each change,
 * by whichever run, it leads to the wish. `pass` and `wave` of its steps are 1.
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

/** As `nextSteps`, for a situation that nothing refuses. */
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
  // the last kubelet of a pass makes the next pass the cluster's, before its node has ended this one
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
 * The candidates that are open already: an earlier run opened them and was killed before anything was begun. One
 * behind a closed candidate was not opened for its turn: it had ended, and was only not closed.
 */
function openOnes(candidates: readonly RolloutNode[], returned: ReadonlySet<string>): ReadonlySet<string> {
  const closed = candidates.findIndex(({ name }) => !returned.has(name));
  return new Set(candidates.slice(0, closed < 0 ? undefined : closed).map(({ name }) => name));
}

/** Open control planes are ended one at a time, and before any worker. */
function controlPlanesFirst<T extends { node: RolloutNode; started: boolean }>(open: T[]): T[] {
  const planes = open.filter(({ node }) => node.controlPlane);
  if (planes.length === 0) return open;
  return [planes.find(({ started }) => started) ?? (planes[0] as T)];
}

/** What is missing on nodes that are due and have no agent to do it. */
export function withoutReportingAgent(nodes: readonly RolloutNode[]): string[] {
  return nodes
    .filter(({ agentReady }) => agentReady === undefined)
    .map(({ name }) => `${name} has no node agent that has spoken`);
}

/** Nodes with something to do in the pass that the cluster is in. */
export function dueNodes(state: RolloutState): RolloutNode[] {
  const version = passVersion(state);
  if (version === undefined) return [];
  return state.groups.flatMap(({ nodes }) => nodes.filter((node) => isDueInPass(node, version, state)));
}
