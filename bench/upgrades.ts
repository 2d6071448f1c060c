import type { KubernetesClient } from "../lib/kubernetes";
import {
  observeRolloutNode,
  type NodeParts,
  type RolloutNode,
} from "../providers/kubeadm/plan/rollout/observed";

/**
 * The observable stages of a node's upgrade, in order. `asked`, `begun` and `done` are foresail's own: other tools
 * write no annotations.
 */
const STAGES = ["cordoned", "asked", "begun", "reported", "done", "uncordoned"] as const;

type Stage = (typeof STAGES)[number];

/** When each stage was first seen, in seconds of one clock. */
export type Upgrade = Partial<Record<Stage, number>>;

/** Records new stages of a node; a stage counts only after the cordon that begins the upgrade. */
export function noteStages(upgrade: Upgrade, node: RolloutNode, to: string, seconds: number): void {
  const isSeen: Record<Stage, boolean> = {
    cordoned: node.unschedulable,
    asked: node.desired["kubelet"] === to && node.current["kubelet"] !== to,
    begun: node.agentReady === false,
    reported: node.kubeletVersion === to && node.ready,
    done: node.agentReady === true && upgrade.begun !== undefined && node.current["kubelet"] === to,
    uncordoned: !node.unschedulable && node.kubeletVersion === to,
  };
  if (!isSeen.cordoned && upgrade.cordoned === undefined) return;
  for (const stage of STAGES) if (isSeen[stage]) upgrade[stage] ??= seconds;
}

/**
 * Watches nodes through the API from the first one's cordon to the last one's uncordon.
 * @returns one upgrade per node
 * @throws WaitTimeout when they are not all uncordoned in time; the signal's reason
 */
async function watchUpgrades(
  client: KubernetesClient,
  names: readonly string[],
  to: string,
  options: { seconds: number; signal: AbortSignal },
): Promise<Upgrade[]> {
  const upgrades = new Map<string, Upgrade>(names.map((name) => [name, {}]));
  await client.watchUntil<void, NodeParts>({
    ...options,
    what: `the upgrades of ${names.join(", ")}`,
    apiVersion: "v1",
    kind: "Node",
    decide: (nodes) => {
      for (const node of nodes) {
        const upgrade = upgrades.get(node.metadata?.name ?? "");
        if (upgrade) noteStages(upgrade, observeRolloutNode(node), to, performance.now() / 1000);
      }
      const away = names.filter((name) => upgrades.get(name)?.uncordoned === undefined);
      return away.length === 0 ? { done: undefined } : { pending: `${away.join(", ")} not uncordoned yet` };
    },
  });
  return [...upgrades.values()];
}

/**
 * Watches nodes through the API while work upgrades them.
 * @param seconds limit from the first one's cordon to the last one's uncordon
 * @throws the work's error; WaitTimeout when they are not all uncordoned in time
 */
export async function upgradesDuring(
  client: KubernetesClient,
  names: readonly string[],
  to: string,
  seconds: number,
  work: () => Promise<unknown>,
): Promise<Upgrade[]> {
  const failed = new AbortController();
  const watching = watchUpgrades(client, names, to, { seconds, signal: failed.signal });
  watching.catch(() => undefined);
  try {
    await work();
    return await watching;
  } catch (error) {
    failed.abort(error);
    throw error;
  }
}

/** Returns the seconds from the first cordon to the last uncordon. */
export function wholeSeconds(upgrades: readonly Upgrade[]): number {
  const ends = upgrades.map(({ uncordoned = NaN }) => uncordoned);
  return Math.max(...ends) - Math.min(...upgrades.map(({ cordoned = NaN }) => cordoned));
}

/**
 * Returns the average seconds of each stage of an upgrade: "drained 0.3 s, begun 0.9 s, …"; each interval ends at its
 * stage.
 */
export function partsOf(upgrades: readonly Upgrade[]): string {
  const parts = STAGES.slice(1).flatMap((stage) => {
    const seconds = upgrades.flatMap((upgrade) => {
      const at = upgrade[stage];
      const earlier = STAGES.slice(0, STAGES.indexOf(stage)).flatMap((one) => upgrade[one] ?? []);
      return at === undefined || earlier.length === 0 ? [] : [at - Math.max(...earlier)];
    });
    if (seconds.length === 0) return [];
    return [`${stage} ${(seconds.reduce((sum, one) => sum + one, 0) / seconds.length).toFixed(1)}`];
  });
  return parts.join(", ");
}
