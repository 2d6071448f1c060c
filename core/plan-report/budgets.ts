import { planDrain, podName } from "../drain/plan";
import type { Budget, ForecastPod, LabelSelector } from "./facts";
import type { Finding } from "./finding";

/**
 * Budgets that would hold a drain now, and pods with several budgets, which the eviction API refuses as a matter of
 * principle.
 *
 * @param pods those of the nodes that are to be drained
 */
export function budgetFindings(budgets: readonly Budget[], pods: readonly ForecastPod[]): Finding[] {
  const evicted = planDrain(pods, { force: true, deleteEmptyDirData: true }).evict.filter(
    ({ status }) => status?.phase !== "Succeeded" && status?.phase !== "Failed",
  );
  const held = budgets.flatMap((budget): Finding[] => {
    const covered = evicted.filter((pod) => covers(budget, pod));
    if (covered.length === 0 || (budget.status?.disruptionsAllowed ?? 0) > 0) return [];
    const { currentHealthy = 0, desiredHealthy = 0 } = budget.status ?? {};
    const where = covered.map((pod) => `${pod.metadata?.name ?? "?"} on ${pod.spec?.nodeName ?? "?"}`);
    return [
      {
        about: "budget",
        weight: "blocks",
        words: `PodDisruptionBudget ${budgetName(budget)} allows no eviction now (${currentHealthy} healthy, ${desiredHealthy} needed): it holds ${where.join(", ")}`,
        mend:
          currentHealthy < desiredHealthy
            ? "make its pods healthy first"
            : "run one replica more than it needs, or let it allow one disruption",
      },
    ];
  });
  return [...held, ...evicted.flatMap((pod) => severalBudgets(pod, budgets))];
}

function severalBudgets(pod: ForecastPod, budgets: readonly Budget[]): Finding[] {
  const covering = budgets.filter((budget) => covers(budget, pod)).map(budgetName);
  if (covering.length < 2) return [];
  const words = `${podName(pod)} on ${pod.spec?.nodeName ?? "?"} is under ${covering.length} PodDisruptionBudgets (${covering.join(", ")}): the eviction API refuses it`;
  return [{ about: "budget", weight: "blocks", words, mend: "leave one budget for these pods" }];
}

function covers(budget: Budget, pod: ForecastPod): boolean {
  const { selector } = budget.spec ?? {};
  if (!selector || budget.metadata?.namespace !== pod.metadata?.namespace) return false;
  return matches(selector, pod.metadata?.labels ?? {});
}

/** Whether labels are selected; an empty selector takes all, as in policy/v1. */
export function matches(selector: LabelSelector, labels: Record<string, string>): boolean {
  const equal = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
  return (
    equal &&
    (selector.matchExpressions ?? []).every(({ key, operator, values = [] }) => {
      const value = labels[key];
      switch (operator) {
        case "In":
          return value !== undefined && values.includes(value);
        case "NotIn":
          return value === undefined || !values.includes(value);
        case "Exists":
          return value !== undefined;
        case "DoesNotExist":
          return value === undefined;
        default:
          return false;
      }
    })
  );
}

function budgetName({ metadata }: Budget): string {
  return `${metadata?.namespace ?? "default"}/${metadata?.name ?? "?"}`;
}
