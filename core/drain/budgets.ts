import { type DrainablePod, type DrainAllowances, planDrain, podName } from "./plan";

/** The parts of a policy/v1 PodDisruptionBudget that decide about an eviction. */
export interface Budget {
  metadata?: { name?: string; namespace?: string };
  spec?: { selector?: LabelSelector | null };
  status?: { disruptionsAllowed?: number };
}

interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

/** A pod with what decides where it is and which budget holds it. */
export type PlacedPod = DrainablePod & {
  metadata?: { labels?: Record<string, string> };
  spec?: { nodeName?: string };
};

/**
 * Which of these nodes could not be drained now, in words: pods that may not be evicted, and budgets that allow no
 * disruption. A remark and no refusal, since a budget may allow one when its turn comes.
 */
export function blockedDrains(
  nodes: readonly string[],
  pods: readonly PlacedPod[],
  budgets: readonly Budget[],
  allow: DrainAllowances,
): string[] {
  const tight = budgets.filter(({ status }) => (status?.disruptionsAllowed ?? 0) < 1);
  return nodes.flatMap((node) => {
    const plan = planDrain(
      pods.filter(({ spec }) => spec?.nodeName === node),
      allow,
    );
    const refused = plan.refuse.map(({ name, why }) => `${node}: the drain would be refused: ${name} ${why}`);
    const held = plan.evict.flatMap((pod) =>
      tight
        .filter((budget) => covers(budget, pod))
        .map(
          ({ metadata }) =>
            `${node}: the drain would wait: ${podName(pod)} is held by the PodDisruptionBudget ${metadata?.name ?? "?"}, which allows no disruption now`,
        ),
    );
    return [...refused, ...held];
  });
}

/** A finished pod is evicted whatever its budget says. */
function covers(budget: Budget, pod: PlacedPod): boolean {
  if (["Succeeded", "Failed"].includes(pod.status?.phase ?? "")) return false;
  if ((budget.metadata?.namespace ?? "default") !== (pod.metadata?.namespace ?? "default")) return false;
  const selector = budget.spec?.selector;
  return selector !== undefined && selector !== null && selects(selector, pod.metadata?.labels ?? {});
}

function selects(selector: LabelSelector, labels: Record<string, string>): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels[key];
      if (operator === "In") return value !== undefined && values.includes(value);
      if (operator === "NotIn") return value === undefined || !values.includes(value);
      return operator === "Exists" ? value !== undefined : value === undefined;
    })
  );
}
