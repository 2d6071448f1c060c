import type { RolloutNode } from "./observed";
import { isDueInPass, passVersion, type Situation } from "./situation";
import { presentSkew } from "./skew";
import { compareVersions } from "./version";
import { isDue } from "./wish";

/** What a reader of a rollout should know besides its steps. */
export function notesOf(situation: Situation, nodes: readonly RolloutNode[]): string[] {
  const { wish, groups, paused } = situation;
  const members = groups.flatMap((group) => group.nodes);
  const pass = passVersion(situation);
  const due = pass === undefined ? [] : members.filter((node) => isDueInPass(node, pass, situation));

  const named = new Set(wish.pools.flatMap(({ machines }) => machines));
  const strangers = nodes.filter(({ name }) => !named.has(name));
  const present = new Set(nodes.map(({ name }) => name));
  const absent = [...named].filter((name) => !present.has(name));
  const resting = members.filter((node) => paused.has(node.name) && isDue(node, wish, wish.version));
  const down = due.filter(({ kubeletVersion }) => compareVersions(kubeletVersion, wish.version) > 0);
  const planes = situation.controlPlanes;

  return [
    ...presentSkew(members),
    ...strangers.map(({ name }) => `${name} is in no pool of the configuration: its version stays as it is`),
    ...absent.map((name) => `${name} is not in the cluster, so it has no version to change`),
    ...resting.map(({ name, kubeletVersion }) => `${name} is paused: it stays at ${kubeletVersion}`),
    ...down.map(
      ({ name, kubeletVersion }) =>
        `${name} runs ${kubeletVersion}, a newer patch: it goes down to ${wish.version}`,
    ),
    ...outage(planes, due),
  ];
}

/** One or two control planes have no member to spare. */
function outage(planes: readonly RolloutNode[], due: readonly RolloutNode[]): string[] {
  if (planes.length === 0 || planes.length > 2 || !due.some(({ controlPlane }) => controlPlane)) return [];
  return [
    planes.length === 1
      ? "there is one control plane: the API does not answer while it changes"
      : "there are two control planes: etcd has no quorum, and the API does not answer, while one changes",
  ];
}
