import type { RolloutNode } from "./observed";
import { isDueInPass, passVersion, type RolloutState } from "./state";
import { presentSkew } from "./skew";
import { compareVersions } from "./version";
import { isDue } from "./desired";
import { nodeRolloutSteps } from "../steps";

/** Returns the remarks of a preview that are not steps. */
export function notesOf(state: RolloutState, nodes: readonly RolloutNode[]): string[] {
  const { wish: desired, groups, paused } = state;
  const members = groups.flatMap((group) => group.nodes);
  const pass = passVersion(state);
  const due = pass === undefined ? [] : members.filter((node) => isDueInPass(node, pass, state));

  const named = new Set(desired.pools.flatMap(({ machines }) => machines));
  const unmanaged = nodes.filter(({ name }) => !named.has(name));
  const present = new Set(nodes.map(({ name }) => name));
  const absent = [...named].filter((name) => !present.has(name));
  const resting = members.filter((node) => paused.has(node.name) && isDue(node, desired, desired.version));
  const down = due.filter(({ kubeletVersion }) => compareVersions(kubeletVersion, desired.version) > 0);
  const planes = state.controlPlanes;

  return [
    ...presentSkew(members),
    ...unmanaged.map(({ name }) => `${name} is in no pool of the configuration: its version stays as it is`),
    ...absent.map((name) => `${name} is not in the cluster, so it has no version to change`),
    ...resting.map(({ name, kubeletVersion }) => `${name} is paused: it stays at ${kubeletVersion}`),
    ...down.map(
      ({ name, kubeletVersion }) =>
        `${name} runs ${kubeletVersion}, a newer patch: it goes down to ${desired.version}`,
    ),
    ...outage(planes, due),
  ];
}

/** Warns that one or two control planes have no redundant etcd member. */
function outage(planes: readonly RolloutNode[], due: readonly RolloutNode[]): string[] {
  if (planes.length === 0 || planes.length > 2 || !due.some(({ controlPlane }) => controlPlane)) return [];
  const one = "is one control plane: the API does not answer while it changes";
  const two = "are two control planes: etcd has no quorum, and the API does not answer, while one changes";
  return [nodeRolloutSteps.format({ kind: "outage", planes: planes.length === 1 ? one : two })];
}
