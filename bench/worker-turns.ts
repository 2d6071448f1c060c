import type { KubernetesClient } from "../lib/kubernetes";
import {
  observeRolloutNode,
  type NodeParts,
  type RolloutNode,
} from "../providers/kubeadm/plan/rollout/observed";

/** What is seen of a worker's turn, in order. `asked`, `begun` and `done` are foresail's own: others write no annotations. */
const MARKS = ["cordoned", "asked", "begun", "reported", "done", "uncordoned"] as const;

type Mark = (typeof MARKS)[number];

/** When each was seen first, in seconds of one clock. */
export type Turn = Partial<Record<Mark, number>>;

/** Notes what is new on a node; a mark counts only after the cordon that begins the turn. */
export function noteMarks(turn: Turn, node: RolloutNode, to: string, seconds: number): void {
  const isSeen: Record<Mark, boolean> = {
    cordoned: node.unschedulable,
    asked: node.desired["kubelet"] === to && node.current["kubelet"] !== to,
    begun: node.agentReady === false,
    reported: node.kubeletVersion === to && node.ready,
    done: node.agentReady === true && turn.begun !== undefined && node.current["kubelet"] === to,
    uncordoned: !node.unschedulable && node.kubeletVersion === to,
  };
  if (!isSeen.cordoned && turn.cordoned === undefined) return;
  for (const mark of MARKS) if (isSeen[mark]) turn[mark] ??= seconds;
}

/**
 * Watches workers from the first one's cordon to the last one's return, as anybody sees it in the API.
 * @returns one turn a worker
 * @throws WaitTimeout when they have not all returned in time; the signal's reason
 */
export async function watchTurns(
  client: KubernetesClient,
  workers: readonly string[],
  to: string,
  options: { seconds: number; signal: AbortSignal },
): Promise<Turn[]> {
  const turns = new Map<string, Turn>(workers.map((name) => [name, {}]));
  await client.watchUntil<void, NodeParts>({
    ...options,
    what: `the turns of ${workers.join(", ")}`,
    apiVersion: "v1",
    kind: "Node",
    decide: (nodes) => {
      for (const node of nodes) {
        const turn = turns.get(node.metadata?.name ?? "");
        if (turn) noteMarks(turn, observeRolloutNode(node), to, performance.now() / 1000);
      }
      const away = workers.filter((name) => turns.get(name)?.uncordoned === undefined);
      return away.length === 0 ? { done: undefined } : { pending: `${away.join(", ")} to return` };
    },
  });
  return [...turns.values()];
}

/** Seconds from the first cordon to the last return. */
export function wholeSeconds(turns: readonly Turn[]): number {
  const ends = turns.map(({ uncordoned = NaN }) => uncordoned);
  return Math.max(...ends) - Math.min(...turns.map(({ cordoned = NaN }) => cordoned));
}

/** Where the seconds of a turn went, on average: "drained 0.3 s, begun 0.9 s, …"; a part ends at its mark. */
export function partsOf(turns: readonly Turn[]): string {
  const parts = MARKS.slice(1).flatMap((mark) => {
    const seconds = turns.flatMap((turn) => {
      const at = turn[mark];
      const earlier = MARKS.slice(0, MARKS.indexOf(mark)).flatMap((one) => turn[one] ?? []);
      return at === undefined || earlier.length === 0 ? [] : [at - Math.max(...earlier)];
    });
    if (seconds.length === 0) return [];
    return [`${mark} ${(seconds.reduce((sum, one) => sum + one, 0) / seconds.length).toFixed(1)}`];
  });
  return parts.join(", ");
}
