import { desiredSoftware, isDue, isKubernetesDue } from "./desired";
import type { RolloutNode } from "./observed";
import { isDueInPass, wantedVersion, type Group, type RolloutState } from "./state";

/**
 * Returns the groups in the order in which they change. Versions of Kubernetes go to control planes first, since no kubelet may
 * be newer than an API server. Everything else goes to workers first, where a failure costs the least, and a change that
 * failed on a node begins with that node.
 *
 * @param pass version of the cluster's current pass
 */
export function groupsInOrder(state: RolloutState, pass: string): Group[] {
  const isVersion = changesKubernetes(state, pass);
  const rank = ({ controlPlane, nodes }: Group) => {
    const role = controlPlane === isVersion ? 0 : 1;
    const isLater = nodes.some((node) => failedAt(state, pass, node) !== undefined) ? 0 : 1;
    return isVersion ? role * 2 + isLater : isLater * 2 + role;
  };
  const ranked = state.groups.map((group) => ({ group, rank: rank(group) }));
  return ranked.sort((one, other) => one.rank - other.rank).map(({ group }) => group);
}

/** Returns whether a version of Kubernetes changes on a node in this pass. */
export function changesKubernetes(state: RolloutState, pass: string): boolean {
  return state.groups.some(({ nodes }) =>
    nodes.some(
      (node) =>
        !state.resting.has(node.name) && isKubernetesDue(node, wantedVersion(node, pass, state.desired)),
    ),
  );
}

/**
 * Returns whether one of these nodes has to show first that the change works: it failed on one of them, or it is not a version of
 * Kubernetes, which the control planes have by then, and no worker has it yet.
 */
export function isTried(state: RolloutState, pass: string, due: readonly RolloutNode[]): boolean {
  if (due.some((node) => failedAt(state, pass, node) !== undefined)) return true;
  return !changesKubernetes(state, pass) && !isProven(state, pass);
}

/** Returns whether a worker works with what this pass brings to workers. */
function isProven({ desired, groups }: RolloutState, pass: string): boolean {
  const works = (node: RolloutNode) =>
    node.ready && !node.changesAllowed && !isDue(node, desired, wantedVersion(node, pass, desired));
  return groups.some(({ controlPlane, nodes }) => !controlPlane && nodes.some(works));
}

/** Returns nodes with those first on which the same change failed before. */
export function failedFirst(
  state: RolloutState,
  pass: string,
  nodes: readonly RolloutNode[],
): readonly RolloutNode[] {
  const failed = nodes.filter((node) => failedAt(state, pass, node) !== undefined);
  return failed.length === 0 ? nodes : [...failed, ...nodes.filter((node) => !failed.includes(node))];
}

/** Returns why what this pass wants of a node failed there before; undefined when it did not, or is no longer wanted. */
export function failedAt(state: RolloutState, pass: string, node: RolloutNode): string | undefined {
  const { failedChange } = node;
  if (failedChange === undefined || !isDueInPass(node, pass, state)) return undefined;
  const wanted = desiredSoftware(state.desired, wantedVersion(node, pass, state.desired), node);
  const isSame = Object.entries(failedChange.asked).every(([name, version]) => wanted[name] === version);
  return isSame ? failedChange.why : undefined;
}
