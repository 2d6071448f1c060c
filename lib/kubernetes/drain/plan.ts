import type { V1LabelSelector, V1LabelSelectorRequirement } from "@kubernetes/client-node";
import type { V1Pod, V1PodDisruptionBudget } from "@kubernetes/client-node";
import type { Parts } from "../objects";

export type PodParts = Parts<V1Pod>;
export type Budget = Parts<V1PodDisruptionBudget>;

const MIRROR = "kubernetes.io/config.mirror";

/** Returns the parts of a pod that `blockedDrains` reads. */
export function partsForDrain({ metadata = {}, spec, status }: PodParts): PodParts {
  const { name, namespace, labels, annotations, ownerReferences, deletionTimestamp } = metadata;
  const mirror = annotations?.[MIRROR];
  return {
    metadata: {
      name,
      namespace,
      labels,
      ownerReferences,
      deletionTimestamp,
      ...(mirror === undefined ? {} : { annotations: { [MIRROR]: mirror } }),
    },
    spec: { nodeName: spec?.nodeName, volumes: spec?.volumes },
    status: { phase: status?.phase, conditions: status?.conditions },
  };
}

/** The losses that the operator allows. */
export interface DrainAllowances {
  /** evict pods with emptyDir volumes: their data is lost */
  deleteEmptyDirData: boolean;
  /** evict pods that no controller creates again */
  force: boolean;
}

/** A pod and the reason for its treatment. */
interface Judged<P> {
  pod: P;
  /** "namespace/name" */
  name: string;
  why: string;
}

interface DrainPlan<P> {
  /** pods to evict */
  evict: P[];
  /** pods that are already being deleted; the drain only waits for them */
  leaving: P[];
  /** pods that stay */
  skip: Judged<P>[];
  /** pods that may not be evicted without an allowance; if there are any, nothing is evicted */
  refuse: Judged<P>[];
}

/**
 * Decides which of a node's pods a drain evicts, by the rules of `kubectl drain --ignore-daemonsets`: mirror and
 * DaemonSet pods stay; finished pods are always evicted; pods with emptyDir volumes, and pods without a controller, are
 * evicted only if that is allowed.
 */
export function planDrain<P extends PodParts>(pods: readonly P[], allow: DrainAllowances): DrainPlan<P> {
  const plan: DrainPlan<P> = { evict: [], leaving: [], skip: [], refuse: [] };
  for (const pod of pods) {
    const name = namespacedName(pod);
    const isFinished = ["Succeeded", "Failed"].includes(pod.status?.phase ?? "");
    const controller = pod.metadata?.ownerReferences?.find((owner) => owner.controller);
    if (pod.metadata?.annotations?.[MIRROR] !== undefined)
      plan.skip.push({ pod, name, why: "is a static pod of the node" });
    else if (!isFinished && controller?.kind === "DaemonSet")
      plan.skip.push({ pod, name, why: "belongs to a DaemonSet" });
    else if (pod.metadata?.deletionTimestamp) plan.leaving.push(pod);
    else {
      const lost = allow.deleteEmptyDirData ? [] : emptyDirsOf(pod);
      const why = [
        ...(lost.length > 0
          ? [`would lose its emptyDir ${lost.join(", ")} (drain.deleteEmptyDirData allows it)`]
          : []),
        ...(controller || allow.force
          ? []
          : ["has no controller that would make it again (drain.force allows it)"]),
      ].join("; ");
      if (isFinished || why === "") plan.evict.push(pod);
      else plan.refuse.push({ pod, name, why });
    }
  }
  return plan;
}

/** "namespace/name" of a pod or a budget */
export function namespacedName({ metadata }: Pick<PodParts, "metadata">): string {
  return `${metadata?.namespace ?? "default"}/${metadata?.name ?? "?"}`;
}

/** Returns the names of a pod's emptyDir volumes. */
export function emptyDirsOf({ spec }: PodParts): string[] {
  return (spec?.volumes ?? []).flatMap(({ emptyDir, name = "?" }) => (emptyDir ? [name] : []));
}

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
export function evictionVerdict(pod: PodParts, budgets: readonly Budget[]): EvictionVerdict {
  const { phase = "", conditions } = pod.status ?? {};
  if (["Succeeded", "Failed", "Pending"].includes(phase) || pod.metadata?.deletionTimestamp)
    return { kind: "free" };
  const covering = budgets.filter((budget) => covers(budget, pod));
  const [budget] = covering;
  if (budget === undefined) return { kind: "free" };
  if (covering.length > 1) return { kind: "several", budgets: covering };
  const { disruptionsAllowed = 0, currentHealthy = 0, desiredHealthy = 0 } = budget.status ?? {};
  // a pod without the condition is not ready, as for the API server
  if (!conditions?.some(({ type, status }) => type === "Ready" && status === "True")) {
    if (budget.spec?.unhealthyPodEvictionPolicy === "AlwaysAllow") return { kind: "free" };
    if (currentHealthy >= desiredHealthy && desiredHealthy > 0) return { kind: "free" };
  }
  return { kind: disruptionsAllowed > 0 ? "counted" : "held", budget };
}

/** Why a node could not be drained now. */
interface BlockedDrain {
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
  pods: readonly PodParts[],
  budgets: readonly Budget[],
  allow: DrainAllowances,
): BlockedDrain[] {
  const podsOf = new Map<string | undefined, PodParts[]>(nodes.map((machine) => [machine, []]));
  for (const pod of pods) podsOf.get(pod.spec?.nodeName)?.push(pod);
  return nodes.flatMap((machine) => {
    const { refuse, evict } = planDrain(podsOf.get(machine) ?? [], allow);
    return [
      ...refuse.map(({ name, why }) => ({ machine, how: "be refused" as const, why: `${name} ${why}` })),
      ...evict.flatMap((pod): BlockedDrain[] => {
        const why = heldBy(evictionVerdict(pod, budgets));
        return why === undefined ? [] : [{ machine, how: "wait", why: `${namespacedName(pod)} is ${why}` }];
      }),
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

/**
 * Returns whether a budget covers a pod. An empty selector selects every pod of the namespace, a missing one selects none.
 */
export function covers({ metadata, spec }: Budget, pod: PodParts): boolean {
  if ((metadata?.namespace ?? "default") !== (pod.metadata?.namespace ?? "default")) return false;
  return spec?.selector ? matches(spec.selector, pod.metadata?.labels ?? {}) : false;
}

type Labels = Record<string, string | undefined>;

/** Returns whether a selector matches labels; an empty selector matches all. */
export function matches({ matchLabels, matchExpressions }: Parts<V1LabelSelector>, labels: Labels): boolean {
  return (
    Object.entries(matchLabels ?? {}).every(([key, value]) => labels[key] === value) &&
    (matchExpressions ?? []).every((expression) => matchesExpression(expression, labels))
  );
}

type Matches = (value: string | undefined, values: readonly string[]) => boolean;

/** The operators of label and node selectors; only node selectors have Gt and Lt. */
const OPERATORS = new Map<string | undefined, Matches>([
  ["In", (value, values) => value !== undefined && values.includes(value)],
  ["NotIn", (value, values) => value === undefined || !values.includes(value)],
  ["Exists", (value) => value !== undefined],
  ["DoesNotExist", (value) => value === undefined],
  ["Gt", (value, [least]) => Number(value) > Number(least)],
  ["Lt", (value, [most]) => Number(value) < Number(most)],
]);

/** Returns whether labels match one expression of a label or node selector; an unknown operator never matches. */
export function matchesExpression(
  { key = "", operator, values = [] }: Parts<V1LabelSelectorRequirement>,
  labels: Labels,
): boolean {
  return OPERATORS.get(operator)?.(labels[key], values) ?? false;
}
