import type { RolloutNode } from "./observed";
import { isDueInPass, type Group, type RolloutState } from "./state";
import { refuseControlPlanes, refuseWorkers } from "./skew";

/** The nodes that a rollout may begin next, or the reasons why it may begin none. */
export interface RolloutBatch {
  group?: Group;
  /** Nodes that may be away from now on, in order. */
  candidates: RolloutNode[];
  /** Conditions to wait for, which may come true without a person's help. */
  waiting: string[];
  /** What a person has to change first. */
  stop?: string;
}

/**
 * Returns the next batch of a pass: one control plane at a time, and only while all others are Ready; then the
 * worker pools in order, each up to its maximum. A pool begins when the pools before it are done.
 *
 * @param pass version of the pass
 * @param busy names of nodes that this rollout has already taken away
 * @param returned names of nodes whose change window is open although nothing has begun; they count as closed
 */
export function nextBatch(
  state: RolloutState,
  pass: string,
  busy: ReadonlySet<string>,
  returned: ReadonlySet<string>,
): RolloutBatch {
  const group = state.groups.find(({ nodes }) =>
    nodes.some((node) => !busy.has(node.name) && isDueInPass(node, pass, state)),
  );
  if (!group) return { candidates: [], waiting: [] };
  const here = new Set(group.nodes.map(({ name }) => name));
  if ([...busy].some((name) => !here.has(name))) return { group, candidates: [], waiting: [] };
  const due = group.nodes.filter((node) => !busy.has(node.name) && isDueInPass(node, pass, state));
  const batch = group.controlPlane
    ? controlPlaneBatch(state, pass, busy, due)
    : workersBatch(state, { group, pass, busy, returned, due });
  return { group, ...batch };
}

function controlPlaneBatch(
  state: RolloutState,
  pass: string,
  busy: ReadonlySet<string>,
  due: RolloutNode[],
): RolloutBatch {
  const stop = refuseControlPlanes(state, pass);
  if (stop) return { candidates: [], waiting: [], stop };
  if (busy.size > 0) return { candidates: [], waiting: [] };
  // taking away another one while a control plane is not Ready could cost etcd its quorum
  const notReady = state.controlPlanes.filter(({ ready }) => !ready);
  if (notReady.length > 0) return { candidates: [], waiting: notReady.map(describeNotReady) };
  return { candidates: due.slice(0, 1), waiting: [] };
}

function workersBatch(
  state: RolloutState,
  at: {
    group: Group;
    pass: string;
    busy: ReadonlySet<string>;
    returned: ReadonlySet<string>;
    due: RolloutNode[];
  },
): RolloutBatch {
  const { group, busy, due } = at;
  const stop = refuseControlPlanes(state, at.pass) ?? refuseWorkers(state, at.pass);
  if (stop) return { candidates: [], waiting: [], stop };
  const isDead = ({ name, ready }: RolloutNode) => !ready && state.resting.has(name) && !busy.has(name);
  const others = group.nodes.filter((node) => !isDead(node));
  const cordoned = others.filter((node) => isCordoned(node, busy, at.returned));
  const notReady = others.filter((node) => !node.ready && !busy.has(node.name));
  // dead nodes that are left as they are count as away, but they never use up the last place of the other nodes
  const taken = new Set([...cordoned, ...notReady]).size;
  const dead = group.nodes.length - others.length;
  const maximum = Math.max(group.maximum - dead, Math.min(group.maximum, taken + 1));
  const away = new Set([...busy, ...cordoned.map(({ name }) => name), ...notReady.map(({ name }) => name)]);

  const candidates: RolloutNode[] = [];
  for (const node of due) {
    // a node that is already cordoned takes no additional room; a node that is not Ready is not begun
    if (!node.ready || away.size + (away.has(node.name) ? 0 : 1) > maximum) continue;
    away.add(node.name);
    candidates.push(node);
  }
  if (candidates.length > 0 || busy.size > 0) return { candidates, waiting: [] };
  if (notReady.length > 0) return { candidates, waiting: notReady.map(describeNotReady) };
  const names = cordoned.map(({ name }) => name).join(", ");
  return {
    candidates,
    waiting: [],
    stop:
      `${names} of ${group.pool.name} cordoned by somebody else, and at most ${maximum} of the pool may be away: ` +
      `uncordon, or raise maxUnavailable of ${group.pool.name}`,
  };
}

/** Returns whether this node was cordoned by someone other than this rollout. */
function isCordoned(node: RolloutNode, busy: ReadonlySet<string>, returned: ReadonlySet<string>): boolean {
  if (!node.unschedulable || busy.has(node.name)) return false;
  return node.cordonedBefore || !returned.has(node.name);
}

function describeNotReady(node: RolloutNode): string {
  return `${node.name} is not Ready: ${node.reason ?? "the kubelet has not reported"}`;
}
