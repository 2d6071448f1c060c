import { nodeRolloutSteps, type NodeRolloutStep } from "../steps";
import { desiredSoftware, isDue, staysCordoned, stepTo } from "./desired";
import type { DesiredRollout, RolloutOptions, RolloutStep } from "./desired";
import { decide, dueNodes, isStarted, withoutReportingAgent, withoutSpace, type NextSteps } from "./next";
import type { RolloutNode } from "./observed";
import { changesKubernetes, failedAt, isTried } from "./order";
import { heldStep, isDueInPass, missingIntermediates, passVersion, presentSkew, refusalsOf } from "./state";
import { rolloutState, wantedVersion, type Group, type LeftOut, type RolloutState } from "./state";
import { compareVersions } from "./versions";

export { describeRolloutStep } from "./step-lines";
export type { RolloutStep } from "./desired";

/** A whole rollout, as a preview lists it. */
export interface RolloutPlan {
  /** Steps in the order in which nodes are begun; the nodes of one wave roll together. */
  steps: RolloutStep[];
  /** Why the rollout may not begin, or would stop midway. If there is any, nothing is begun. */
  refusals: string[];
  /** Why the rollout ends before the desired state, after these steps: a person's cordon, a node that is down. Absent when it reaches it. */
  standstill?: string;
  /** Whether the standstill may end without a person's help: a node that is down comes back. */
  mayPass?: true;
  /** Those of the refusals that an intermediate version would resolve. */
  missingIntermediates?: readonly string[];
  /** Remarks for the reader that are not steps. */
  notes: string[];
  /** Unreachable workers, which the steps skip. */
  leftOut: readonly LeftOut[];
  /** Lines for nodes that wait until later runs have replaced machines, or until a node is uncordoned or Ready. */
  held: readonly NodeRolloutStep[];
}

/**
 * Returns every step from here to the desired state: repeats `nextSteps`, each time with the nodes as the earlier
 * steps leave them. Assumes that nodes which report that they are not Ready become Ready, and notes it; those that do not
 * report stay as they are.
 */
export function planRollout(
  nodes: readonly RolloutNode[],
  desired: DesiredRollout,
  options: Pick<RolloutOptions, "agents" | "unreached"> = {},
): RolloutPlan {
  // else the plan would end at the first of these nodes
  const state = rolloutState(nodes.map(withoutShortage), desired, options);
  const found = { leftOut: state.leftOut, held: heldSteps(state) };
  const refusals = refusalsOf(state);
  if (refusals.length > 0)
    return { steps: [], refusals, missingIntermediates: missingIntermediates(state), notes: [], ...found };
  const notes = notesOf(state, nodes);
  const unstarted = dueNodes(state).filter((node) => !isStarted(node));
  const short = withoutSpace(
    nodes.filter(({ name }) => unstarted.some((node) => node.name === name)),
    () => desired.version,
  );
  // checked before any step: without its agent, a node would be opened and the rollout would wait in vain
  const unreported = options.agents === "assumed" ? [] : withoutReportingAgent(dueNodes(state));

  const steps: RolloutStep[] = [];
  let at = { version: undefined as string | undefined, pass: 0, wave: 0 };
  for (;;) {
    const next = decide(state, { agents: "assumed" });
    const now = next.finish.length > 0 ? next.finish : next.begin;
    if (now.length === 0) {
      const refused = [...unreported, ...short];
      if (next.done) return { steps, refusals: refused, notes, ...found };
      if (next.down === undefined && assumeReady(state)) {
        notes.push(...next.waiting);
        continue;
      }
      const reasons = standstill(next);
      const waiting = waitingSteps(state, next);
      if (waiting === undefined) return { steps, refusals: [...refused, ...reasons], notes, ...found };
      const held = [...found.held, ...waiting];
      return {
        steps,
        refusals: refused,
        standstill: reasons.join("; "),
        ...(next.down === undefined ? {} : { mayPass: true }),
        notes,
        leftOut: found.leftOut,
        held,
      };
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
    // what others wait for decides again, and so do the few control planes, after each of which workers may be next
    const isDecidedAnew = next.isTrial || group?.controlPlane;
    if (group && !isDecidedAnew && next.finish.length === 0 && version !== undefined) {
      followingWaves(state, group, { pass: version, size: now.length }, carryOut);
    }
  }
}

const withoutShortage = ({ shortage: _, ...node }: RolloutNode): RolloutNode => node;

/** Returns the lines of the nodes that would change now if no later run replaced machines. */
function heldSteps(state: RolloutState): NodeRolloutStep[] {
  const { desired, groups, paused } = state;
  const due = groups
    .flatMap(({ nodes }) => nodes)
    .filter(
      (node) => !paused.has(node.name) && !node.changesAllowed && isDue(node, desired, desired.version),
    );
  return due.flatMap((node) => heldStep(node, state) ?? []);
}

/** Returns the lines of the nodes that are left when a person's cordon or a node that is down ends the rollout. */
function waitingSteps(
  state: RolloutState,
  { cordoned, down }: Pick<NextSteps, "cordoned" | "down">,
): NodeRolloutStep[] | undefined {
  const left = dueNodes(state).map(({ name }) => name);
  if (down !== undefined) return left.map((machine) => ({ kind: "notReady", machine, machines: [...down] }));
  return (
    cordoned &&
    left.map((machine) => ({
      kind: "cordoned",
      machine,
      machines: cordoned.filter((name) => name !== machine),
    }))
  );
}

/** Returns the version that names the pass: nodes of an earlier run may still finish the previous pass. */
function passOf({ version }: NextSteps, now: readonly RolloutStep[]): string | undefined {
  return now.some(({ resumed, to }) => !resumed || to === version) ? version : now[0]?.to;
}

function standstill({ stop, waiting }: NextSteps): string[] {
  if (stop !== undefined) return [stop];
  return waiting.length > 0 ? waiting : ["nothing can be begun, and not everything is done"];
}

/** Marks every node that takes part in the rollout and reports as Ready. Returns whether any was not Ready. */
function assumeReady({ groups, controlPlanes, resting }: RolloutState): boolean {
  let notReady = false;
  for (const nodes of [...groups.map((group) => group.nodes), controlPlanes]) {
    nodes.forEach((node, index) => {
      if (node.ready || node.unreachable || (resting.has(node.name) && !node.controlPlane)) return;
      notReady = true;
      nodes[index] = { ...node, ready: true };
    });
  }
  return notReady;
}

/** Returns the remarks of a preview that are not steps. */
function notesOf(state: RolloutState, nodes: readonly RolloutNode[]): string[] {
  const { desired, groups, paused } = state;
  const members = groups.flatMap((group) => group.nodes);
  const due = dueNodes(state);
  const named = new Set(desired.pools.flatMap(({ machines }) => machines));
  const unmanaged = nodes.filter(({ name }) => !named.has(name));
  const present = new Set(nodes.map(({ name }) => name));
  const absent = [...named].filter((name) => !present.has(name));
  const resting = members.filter((node) => paused.has(node.name) && isDue(node, desired, desired.version));
  const down = due.filter(({ kubeletVersion }) => compareVersions(kubeletVersion, desired.version) > 0);
  const outage = OUTAGES[state.controlPlanes.length];
  const order = orderNote(state, due);
  return [
    ...(order === undefined ? [] : [nodeRolloutSteps.format({ kind: "order", what: order })]),
    ...failedNotes(state, due),
    ...presentSkew(members),
    ...unmanaged.map(({ name }) => `${name} is in no pool of the configuration: its version stays as it is`),
    ...absent.map((name) => `${name} is not in the cluster, so it has no version to change`),
    ...resting.map(({ name, kubeletVersion }) => `${name} is paused: it stays at ${kubeletVersion}`),
    ...down.map(
      ({ name, kubeletVersion }) =>
        `${name} runs ${kubeletVersion}, a newer patch: it goes down to ${desired.version}`,
    ),
    ...(outage !== undefined && due.some(({ controlPlane }) => controlPlane)
      ? [nodeRolloutSteps.format({ kind: "outage", planes: outage })]
      : []),
  ];
}

/** Returns which nodes change first, and why; undefined where that is no question. */
function orderNote(state: RolloutState, due: readonly RolloutNode[]) {
  const pass = passVersion(state);
  const workers = due.filter(({ controlPlane }) => !controlPlane).length;
  if (pass === undefined || due.length < 2 || workers === 0) return undefined;
  const hasBoth = workers < due.length;
  if (changesKubernetes(state, pass)) return hasBoth ? ORDERS.version : undefined;
  // a note of its own says which node is first
  if (due.some((node) => failedAt(state, pass, node) !== undefined)) return undefined;
  if (isTried(state, pass, due)) return hasBoth ? ORDERS.triedWorker : ORDERS.triedWorkerAlone;
  return hasBoth ? ORDERS.workers : undefined;
}

const ORDERS = {
  version: "control planes first, since no kubelet may be newer than an API server",
  triedWorkerAlone: "one worker first, and the others when it is Ready with the change",
  triedWorker:
    "one worker first, the other workers when it is Ready with the change, and control planes last, since a failure there costs the most",
  workers: "workers first, and control planes last, since a failure there costs the most",
} as const;

/** Returns a line for each node that went back from what it is asked for again. */
function failedNotes(state: RolloutState, due: readonly RolloutNode[]): string[] {
  const pass = passVersion(state);
  if (pass === undefined) return [];
  return due.flatMap((node) => {
    const why = failedAt(state, pass, node);
    return why === undefined
      ? []
      : [nodeRolloutSteps.format({ kind: "failedBefore", machine: node.name, why })];
  });
}

/** What a preview warns of, by the number of control planes: one or two have no redundant etcd member. */
const OUTAGES = [
  undefined,
  "is one control plane: the API does not answer while it changes",
  "are two control planes: etcd has no quorum, and the API does not answer, while one changes",
] as const;

/**
 * Carries out the waves after the first one of a group whose nodes are all Ready, uncordoned and closed: the other
 * due nodes in order, as many at a time as in the first wave. Gives the same result as deciding again after each
 * wave, but does not look at a thousand nodes a thousand times.
 *
 * @param at version of the first wave's pass, with which the waves end, and number of its nodes
 * @param carryOut called with each wave, before the next one is computed
 */
function followingWaves(
  state: RolloutState,
  group: Group,
  at: { pass: string; size: number },
  carryOut: (wave: RolloutStep[]) => void,
): void {
  const calm = group.nodes.every((node) => node.ready && !node.unschedulable && !node.changesAllowed);
  if (!calm || at.size < 1) return;
  const due = group.nodes.filter((node) => isDueInPass(node, at.pass, state));
  for (let first = 0; first < due.length; first += at.size) {
    if (passVersion(state) !== at.pass) return;
    const step = (node: RolloutNode) =>
      stepTo(node, group.pool.name, state.desired, wantedVersion(node, at.pass, state.desired));
    carryOut(due.slice(first, first + at.size).map(step));
  }
}

/** Returns the versions that take the place of requests which a step recalls. */
const withdrawn = ({ recalled = [] }: RolloutStep): Record<string, string> =>
  Object.fromEntries(recalled.map(({ name, asked, to = asked }) => [name, to]));

/** Applies a step to the state of a forecast, in place. */
function complete({ desired, groups, controlPlanes }: RolloutState, step: RolloutStep): void {
  const group = groups.find(({ pool }) => pool.name === step.pool);
  const software = desiredSoftware(desired, step.to, step);
  for (const nodes of [group?.nodes ?? [], ...(step.controlPlane ? [controlPlanes] : [])]) {
    const index = nodes.findIndex(({ name }) => name === step.node);
    const node = nodes[index];
    if (node === undefined) continue;
    nodes[index] = {
      ...node,
      kubeletVersion: step.to,
      ready: true,
      unschedulable: staysCordoned(node),
      cordonedBefore: false,
      changesAllowed: false,
      desired: { ...node.desired, ...software, ...withdrawn(step) },
      current: { ...node.current, ...software },
    };
  }
  if (step.how === "kubeadm upgrade apply") desired.clusterVersion = step.to;
}
