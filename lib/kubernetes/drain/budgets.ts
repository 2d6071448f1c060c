import { type DrainablePod, type DrainAllowances, planDrain, podName } from "./plan";

/** The parts of a policy/v1 PodDisruptionBudget that decide on an eviction. */
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

/** A pod with the fields that decide on its node and its budget. */
export type PlacedPod = DrainablePod & {
  metadata?: { labels?: Record<string, string> };
  spec?: { nodeName?: string };
  status?: { conditions?: { type: string; status: string }[] };
};

/** The eviction API's current decision for a pod. */
type EvictionVerdict =
  /** The eviction is allowed and counts against no budget. */
  | { readonly kind: "free" }
  /** The eviction is allowed, and this budget allows one disruption less until the replacement is healthy. */
  | { readonly kind: "counted"; readonly budget: Budget }
  /** This budget allows no disruption. */
  | { readonly kind: "held"; readonly budget: Budget }
  /** More than one budget selects the pod; the eviction API always refuses that. */
  | { readonly kind: "several"; readonly budgets: readonly Budget[] };

/**
 * Decides as the API server does (registry/core/pod/storage/eviction.go of Kubernetes 1.36). Pods that have ended, have
 * not started or are being deleted are always evicted. A pod that is not ready is evicted with AlwaysAllow, or while
 * the budget has as many healthy pods as it needs (IfHealthyBudget, the default). Every other pod counts.
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

/** Why a node could not be drained now. */
export interface BlockedDrain {
  readonly machine: string;
  readonly how: "be refused" | "wait";
  readonly why: string;
}

/**
 * Returns what would block the drain of nodes now: pods that may not be evicted, and budgets that allow no disruption.
 * These are warnings, since a budget may allow a disruption later.
 */
export function blockedDrains(
  nodes: readonly string[],
  pods: readonly PlacedPod[],
  budgets: readonly Budget[],
  allow: DrainAllowances,
): BlockedDrain[] {
  return nodes.flatMap((machine) => {
    const plan = planDrain(
      pods.filter(({ spec }) => spec?.nodeName === machine),
      allow,
    );
    const held = plan.evict.flatMap((pod): BlockedDrain[] => {
      const why = heldBy(evictionVerdict(pod, budgets));
      return why === undefined ? [] : [{ machine, how: "wait", why: `${podName(pod)} is ${why}` }];
    });
    return [
      ...plan.refuse.map(({ name, why }) => ({ machine, how: "be refused" as const, why: `${name} ${why}` })),
      ...held,
    ];
  });
}

function heldBy(verdict: EvictionVerdict): string | undefined {
  if (verdict.kind === "held")
    return `held by the PodDisruptionBudget ${verdict.budget.metadata?.name ?? "?"}, which allows no disruption now`;
  if (verdict.kind !== "several") return undefined;
  const names = verdict.budgets.map(({ metadata }) => metadata?.name ?? "?").join(", ");
  return `selected by ${verdict.budgets.length} PodDisruptionBudgets (${names}), and the eviction API refuses that`;
}

/** "namespace/name" */
export function budgetName({ metadata }: Budget): string {
  return `${metadata?.namespace ?? "default"}/${metadata?.name ?? "?"}`;
}

/**
 * Returns whether a budget selects a pod: an empty selector selects every pod of the namespace, a missing one selects
 * none.
 */
export function covers(budget: Budget, pod: PlacedPod): boolean {
  if ((budget.metadata?.namespace ?? "default") !== (pod.metadata?.namespace ?? "default")) return false;
  const selector = budget.spec?.selector;
  return selector !== undefined && selector !== null && matches(selector, pod.metadata?.labels ?? {});
}

/** Returns whether a selector matches labels; an empty selector matches all. */
export function matches(selector: LabelSelector, labels: Record<string, string>): boolean {
  return (
    Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value) &&
    (selector.matchExpressions ?? []).every((expression) => matchesExpression(expression, labels))
  );
}

/** Returns whether labels match one expression of a label or node selector; only node selectors have Gt and Lt. */
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

/** Returns whether a pod is ready; a pod without the condition is not, as for the API server. */
function isReady({ status }: PlacedPod): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false;
}
