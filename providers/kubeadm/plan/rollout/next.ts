import { currentOf, stepTo, type DesiredRollout, type RolloutOptions, type RolloutStep } from "./desired";
import { CERTIFICATES, DRIFT, KUBERNETES_SOFTWARE } from "./annotations";
import { isWorking, type RolloutNode } from "./observed";
import { failedFirst, groupsInOrder, isTried } from "./order";
import { fitsControlPlanes, isDueInPass, passVersion, rolloutState, wantedVersion } from "./state";
import { refusalsOf, refuseControlPlanes, refuseWorkers } from "./state";
import type { Group, LeftOut, RolloutState } from "./state";
import { KUBERNETES_MINORS } from "../cluster/kubernetes-minors";
import { compareVersions, minorsBetween, parseVersion } from "./versions";
import { displayLine } from "../../../../lib/text/display";
import { listed, listedSentences, shortened } from "../../../../lib/text/quote";

/** What a rollout may do now. */
export interface NextSteps {
  /** Nodes found with an open change window. They are finished before any other node is begun. */
  finish: RolloutStep[];
  /** Nodes that may be begun now, all at once. Opened in this order, a later run resumes exactly after a kill. */
  begin: RolloutStep[];
  /** Why no other node may begin yet; may pass without a person's help. */
  waiting: string[];
  /** Nothing is due, and no change window is open. */
  done: boolean;
  /** Unreachable workers; `done` refers to all other nodes. */
  leftOut: readonly LeftOut[];
  /** Why no node may begin until a person changes something. */
  stop?: string;
  /** Names of the nodes that have to be uncordoned first, if that is the reason. */
  cordoned?: readonly string[];
  /** Names of the nodes whose kubelets do not report and that have to be Ready first, if that is the reason. */
  down?: readonly string[];
  /** Version of the cluster's current pass. */
  version?: string;
  /** Whether more nodes at once may begin when this one is done. */
  isTrial?: boolean;
}

/** Returns what a rollout may do now, from the Nodes alone (seed 004). Its steps have `pass` and `wave` 1. */
export function nextSteps(
  nodes: readonly RolloutNode[],
  desired: DesiredRollout,
  options: RolloutOptions = {},
): NextSteps {
  const state = rolloutState(nodes, desired, options);
  const refusals = refusalsOf(state);
  if (refusals.length > 0) return { ...NOTHING, stop: listedSentences(refusals) };
  return decide(state, options);
}

/** Works like `nextSteps`, for a state without refusals. */
export function decide(state: RolloutState, options: RolloutOptions = {}): NextSteps {
  const { desired } = state;
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
  const batch: RolloutBatch = version === undefined ? NO_NODE : nextBatch(state, version, busy, returned);
  const unreported = options.agents === "assumed" ? [] : withoutReportingAgent(batch.candidates);
  const short = withoutSpace(batch.candidates, wanted);
  const candidates = ending || unreported.length + short.length > 0 ? [] : batch.candidates;
  const goingOn = openOnes(candidates, returned);

  const found = open.filter(({ node }) => !begun.has(node.name));
  const finish = controlPlanesFirst(found).map(({ node, pool, started }) => {
    const unstarted = goingOn.has(node.name) ? wanted(node) : node.kubeletVersion;
    return stepTo(node, pool, desired, started ? goalOf(node, version, state) : unstarted);
  });
  const pool = batch.group?.pool.name ?? "";
  const stop = batch.stop ?? (short.length > 0 ? listedSentences(short) : undefined);
  return {
    finish,
    begin: found.length > 0 ? [] : candidates.map((node) => stepTo(node, pool, desired, wanted(node))),
    waiting: [...batch.waiting, ...unreported],
    done: open.length === 0 && batch.group === undefined,
    leftOut: state.leftOut,
    ...(stop !== undefined && open.length === 0 ? { stop } : {}),
    ...(batch.cordoned !== undefined && open.length === 0 ? { cordoned: batch.cordoned } : {}),
    ...(batch.down.length > 0 && open.length === 0 ? { down: batch.down } : {}),
    ...(version === undefined ? {} : { version }),
    ...(batch.isTrial ? { isTrial: true } : {}),
  };
}

const NOTHING: NextSteps = { finish: [], begin: [], waiting: [], done: false, leftOut: [] };

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
    .map(({ name }) => `the node agent on ${name} has not reported yet`);
}

const LONGEST_SHORTAGE = 300;

/**
 * Returns a message for each node whose disk is too full for an upgrade, by the last report of its agent.
 *
 * @param wanted the version to which a node goes
 */
export function withoutSpace(nodes: readonly RolloutNode[], wanted: (node: RolloutNode) => string): string[] {
  return nodes.flatMap((node) => {
    if (node.shortage === undefined || node.kubeletVersion === wanted(node)) return [];
    const words = shortened(displayLine(node.shortage), LONGEST_SHORTAGE);
    return [
      `${node.name} has too little free space for an upgrade (${words}): free some there; its node agent looks again every minute`,
    ];
  });
}

/** Returns the nodes with something to do in the cluster's current pass. */
export function dueNodes(state: RolloutState): RolloutNode[] {
  const version = passVersion(state);
  if (version === undefined) return [];
  return state.groups.flatMap(({ nodes }) => nodes.filter((node) => isDueInPass(node, version, state)));
}

/** Returns whether an open node has work that was requested from its agent, or done by it, and has not finished. */
export function isStarted(node: RolloutNode): boolean {
  const kubelet = node.kubeletVersion;
  const differs = (version: string | undefined) => version !== undefined && version !== kubelet;
  return (
    isWorking(node) ||
    KUBERNETES_SOFTWARE.some((name) => differs(node.desired[name]) || differs(node.current[name]))
  );
}

/**
 * Returns the version at which a started node is finished: its desired version, as long as the rollout can still pass
 * through it. So an open node finishes what was reviewed for it, even when its own new kubelet advances the cluster to
 * the next pass. If the configuration has changed since, the new desired state takes precedence.
 *
 * @param pass version of the cluster's current pass
 */
function goalOf(node: RolloutNode, pass: string | undefined, state: RolloutState): string {
  const reported = node.desired.kubelet;
  if (reported !== undefined && isOnTheWay(node, reported, state) && canGoTo(node, reported, state))
    return reported;
  const next = pass ?? state.desired.version;
  return canGoTo(node, next, state) ? next : node.kubeletVersion;
}

function canGoTo(node: RolloutNode, version: string, state: RolloutState): boolean {
  const step = minorsBetween(node.kubeletVersion, version);
  return (step === 0 || step === 1) && (node.controlPlane || fitsControlPlanes(state, version));
}

function isOnTheWay({ kubeletVersion }: RolloutNode, version: string, { desired }: RolloutState): boolean {
  if (!parseVersion(version)) return false;
  const isKnown = [
    ...desired.intermediates,
    ...Object.values(KUBERNETES_MINORS).map(({ patch }) => patch),
  ].includes(version);
  const isBetween =
    minorsBetween(version, desired.version) > 0 && compareVersions(version, kubeletVersion) >= 0;
  return version === desired.version || (isKnown && isBetween);
}

/** The nodes that a rollout may begin next, or the reasons why it may begin none. */
interface RolloutBatch {
  group?: Group;
  /** Nodes that may be away from now on, in order. */
  candidates: RolloutNode[];
  /** Conditions to wait for, which may come true without a person's help. */
  waiting: string[];
  /** What a person has to change first. */
  stop?: string;
  cordoned?: readonly string[];
  /** Those of the nodes to wait for whose kubelets do not report. */
  down: readonly string[];
  /** The others wait until this node has the change and is Ready. */
  isTrial?: boolean;
}

const NO_NODE: RolloutBatch = { candidates: [], waiting: [], down: [] };

/**
 * Returns the next batch of a pass: one control plane at a time, and only while all others are Ready; worker pools each up to
 * their maximum. A group begins when the groups before it are done, or wait for a person's cordon.
 *
 * @param busy names of nodes that this rollout has already taken away
 * @param returned names of nodes whose change window is open although nothing has begun; they count as closed
 */
function nextBatch(
  state: RolloutState,
  pass: string,
  busy: ReadonlySet<string>,
  returned: ReadonlySet<string>,
): RolloutBatch {
  const isOpen = (node: RolloutNode) => !busy.has(node.name) && isDueInPass(node, pass, state);
  const gets = (node: RolloutNode) => wantedVersion(node, pass, state.desired);
  let cordoned: RolloutBatch | undefined;
  for (const group of groupsInOrder(state, pass)) {
    const due = failedFirst(state, pass, group.nodes.filter(isOpen));
    if (due.length === 0) continue;
    const batch = batchOf(state, pass, { ...group, due, gets }, busy, returned);
    if (batch.cordoned === undefined) return batch;
    cordoned ??= batch;
  }
  return cordoned ?? NO_NODE;
}

/** A pool with its nodes that have something to do, and the Kubernetes version that each of them gets. */
interface DueGroup extends Group {
  due: readonly RolloutNode[];
  gets: (node: RolloutNode) => string;
}

function batchOf(
  state: RolloutState,
  pass: string,
  group: DueGroup,
  busy: ReadonlySet<string>,
  returned: ReadonlySet<string>,
): RolloutBatch {
  const here = new Set(group.nodes.map(({ name }) => name));
  if ([...busy].some((name) => !here.has(name))) return { ...NO_NODE, group };
  const refusedWorkers = group.controlPlane ? undefined : refuseWorkers(state, pass);
  const stop = refuseControlPlanes(state, pass) ?? refusedWorkers;
  if (stop !== undefined) return { ...NO_NODE, group, stop };
  const isTrial = isTried(state, pass, group.due);
  if (busy.size > 0 && (isTrial || group.controlPlane)) return { ...NO_NODE, group };
  if (!group.controlPlane) {
    const batch = nextWorkers(state, group, busy, returned);
    return isTrial
      ? { group, ...batch, candidates: batch.candidates.slice(0, 1), isTrial }
      : { group, ...batch };
  }
  // taking away another one while a control plane is not Ready could cost etcd its quorum
  const notReady = state.controlPlanes.filter(({ ready }) => !ready);
  return notReady.length > 0
    ? waitFor(notReady, group)
    : { ...NO_NODE, group, candidates: group.due.slice(0, 1) };
}

function nextWorkers(
  state: RolloutState,
  group: DueGroup,
  busy: ReadonlySet<string>,
  returned: ReadonlySet<string>,
): RolloutBatch {
  const { due } = group;
  const isDead = (node: RolloutNode) =>
    !node.ready &&
    !busy.has(node.name) &&
    (state.resting.has(node.name) || (node.unreachable === true && !hasWhatOthersGet(node, group, state)));
  const others = group.nodes.filter((node) => !isDead(node));
  // by someone other than this rollout
  const cordoned = others.filter(
    ({ name, unschedulable, cordonedBefore }) =>
      unschedulable && !busy.has(name) && (cordonedBefore || !returned.has(name)),
  );
  const notReady = others.filter((node) => !node.ready && !busy.has(node.name));
  // dead nodes that are left as they are count as away, but they never use up the last place of the other nodes
  const taken = new Set([...cordoned, ...notReady]).size;
  const dead = group.nodes.length - others.length;
  const maximum = Math.max(group.maximum - dead, Math.min(group.maximum, taken + 1));
  const away = new Set([...busy, ...[...cordoned, ...notReady].map(({ name }) => name)]);

  const candidates: RolloutNode[] = [];
  for (const node of due) {
    // a node that is already cordoned takes no additional room; a node that is not Ready is not begun
    if (!node.ready || away.size + (away.has(node.name) ? 0 : 1) > maximum) continue;
    away.add(node.name);
    candidates.push(node);
  }
  if (candidates.length > 0 || busy.size > 0) return { ...NO_NODE, candidates };
  if (notReady.length > 0) return waitFor(notReady);
  const names = cordoned.map(({ name }) => name);
  const stop =
    `${listed(names)} of ${group.pool.name} cordoned outside of this rollout, and at most ${maximum} of the pool may be away: ` +
    `uncordon, or raise maxUnavailable of ${group.pool.name}`;
  return { ...NO_NODE, stop, cordoned: names };
}

/**
 * Returns whether a node has something that others of its pool are to get: one that does not report may have failed
 * because of it. What others changed on single machines is no such thing.
 */
function hasWhatOthersGet(node: RolloutNode, { due, gets }: DueGroup, { desired }: RolloutState): boolean {
  return due.some((other) =>
    stepTo(other, "", desired, gets(other)).software.some(
      ({ name, to }) => name !== DRIFT && name !== CERTIFICATES && currentOf(node, name) === to,
    ),
  );
}

/** Returns a batch of no node that waits until these are Ready. */
const waitFor = (notReady: readonly RolloutNode[], group?: Group): RolloutBatch => ({
  ...NO_NODE,
  ...(group === undefined ? {} : { group }),
  waiting: notReady.map(describeNotReady),
  down: notReady.filter(({ unreachable }) => unreachable).map(({ name }) => name),
});

const describeNotReady = ({ name, reason = "the kubelet has not reported" }: RolloutNode) =>
  `${name} is not Ready: ${reason}`;
