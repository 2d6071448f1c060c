import { type DrainablePod, type DrainAllowances, planDrain, podName } from "./plan";

/** The parts of a policy/v1 PodDisruptionBudget that decide about an eviction. */
export interface Budget {
  metadata?: { name?: string; namespace?: string };
  spec?: { selector?: LabelSelector | null; unhealthyPodEvictionPolicy?: string };
  status?: { disruptionsAllowed?: number; currentHealthy?: number; desiredHealthy?: number };
}

interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: LabelExpression[];
}

export interface LabelExpression {
  key: string;
  operator: string;
  values?: string[];
}

/** A pod with what decides where it is and which budget holds it. */
export type PlacedPod = DrainablePod & {
  metadata?: { labels?: Record<string, string> };
  spec?: { nodeName?: string };
  status?: { conditions?: { type: string; status: string }[] };
};

/** What the eviction API answers for a pod now. */
type EvictionVerdict =
  /** It is evicted, and no budget has less for it. */
  | { readonly kind: "free" }
  /** It is evicted, and this budget allows one disruption less until its replacement is healthy. */
  | { readonly kind: "counted"; readonly budget: Budget }
  /** This budget allows no disruption. */
  | { readonly kind: "held"; readonly budget: Budget }
  /** More than one budget selects it, which the eviction API refuses whatever they allow. */
  | { readonly kind: "several"; readonly budgets: readonly Budget[] };

/**
 * Decides as the API server does (registry/core/pod/storage/eviction.go of Kubernetes 1.36): pods that have ended, have
 * not started or are being deleted go whatever a budget says; one that is not ready goes with AlwaysAllow, or while the
 * budget has as many healthy pods as it needs (IfHealthyBudget, the default); every other pod counts.
 */
export function evictionVerdict(pod: PlacedPod, budgets: readonly Budget[]): EvictionVerdict {
  const phase = pod.status?.phase ?? "";
  if (["Succeeded", "Failed", "Pending"].includes(phase) || pod.metadata?.deletionTimestamp)
    return { kind: "free" };
  const covering = budgets.filter((budget) => covers(budget, pod));
  const [budget] = covering;
  if (budget === undefined) return { kind: "free" };
  if (covering.length > 1) return { kind: "several", budgets: covering };
  const { disruptionsAllowed = 0, currentHealthy = 0, desiredHealthy = 0 } = budget.status ?? {};
  if (!isReady(pod)) {
    if (budget.spec?.unhealthyPodEvictionPolicy === "AlwaysAllow") return { kind: "free" };
    if (currentHealthy >= desiredHealthy && desiredHealthy > 0) return { kind: "free" };
  }
  return { kind: disruptionsAllowed > 0 ? "counted" : "held", budget };
}

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
  return nodes.flatMap((node) => {
    const plan = planDrain(
      pods.filter(({ spec }) => spec?.nodeName === node),
      allow,
    );
    const refused = plan.refuse.map(({ name, why }) => `${node}: the drain would be refused: ${name} ${why}`);
    const held = plan.evict.flatMap((pod) => {
      const verdict = evictionVerdict(pod, budgets);
      if (verdict.kind === "held")
        return `${node}: the drain would wait: ${podName(pod)} is held by the PodDisruptionBudget ${verdict.budget.metadata?.name ?? "?"}, which allows no disruption now`;
      if (verdict.kind !== "several") return [];
      const names = verdict.budgets.map(({ metadata }) => metadata?.name ?? "?").join(", ");
      return `${node}: the drain would wait: ${podName(pod)} is selected by ${verdict.budgets.length} PodDisruptionBudgets (${names}), and the eviction API refuses that`;
    });
    return [...refused, ...held];
  });
}

/** "namespace/name" */
export function budgetName({ metadata }: Budget): string {
  return `${metadata?.namespace ?? "default"}/${metadata?.name ?? "?"}`;
}

/** Whether a budget selects a pod: an empty selector takes every pod of the namespace, none takes no pod. */
export function covers(budget: Budget, pod: PlacedPod): boolean {
  if ((budget.metadata?.namespace ?? "default") !== (pod.metadata?.namespace ?? "default")) return false;
  const selector = budget.spec?.selector;
  return selector !== undefined && selector !== null && matches(selector, pod.metadata?.labels ?? {});
}

/** Whether labels are selected; an empty selector takes all. */
export function matches(selector: LabelSelector, labels: Record<string, string>): boolean {
  return (
    Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value) &&
    (selector.matchExpressions ?? []).every((expression) => matchesExpression(expression, labels))
  );
}

/** Whether labels match one expression of a label or node selector; Gt and Lt are of node selectors alone. */
export function matchesExpression(
  { key, operator, values = [] }: LabelExpression,
  labels: Record<string, string>,
): boolean {
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
    case "Gt":
      return Number(value) > Number(values[0]);
    case "Lt":
      return Number(value) < Number(values[0]);
    default:
      return false;
  }
}

/** The API server takes a pod without the condition for not ready. */
function isReady({ status }: PlacedPod): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false;
}
