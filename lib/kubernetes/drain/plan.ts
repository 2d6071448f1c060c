/** The fields of a pod that the decision needs; a Pod of the API has this shape. */
export interface DrainablePod {
  metadata?: {
    name?: string;
    namespace?: string;
    uid?: string;
    annotations?: Record<string, string>;
    deletionTimestamp?: string;
    ownerReferences?: { kind: string; name: string; controller?: boolean }[];
  };
  spec?: { volumes?: { name: string; emptyDir?: unknown }[] };
  status?: { phase?: string };
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

const MIRROR = "kubernetes.io/config.mirror";

/**
 * Decides which of a node's pods a drain evicts, by the rules of `kubectl drain --ignore-daemonsets`: mirror and
 * DaemonSet pods stay; finished pods are always evicted; pods with emptyDir volumes, and pods without a controller, are
 * evicted only if that is allowed.
 */
export function planDrain<P extends DrainablePod>(pods: readonly P[], allow: DrainAllowances): DrainPlan<P> {
  const plan: DrainPlan<P> = { evict: [], leaving: [], skip: [], refuse: [] };
  for (const pod of pods) {
    const name = podName(pod);
    const stays = whyItStays(pod);
    if (stays) plan.skip.push({ pod, name, why: stays });
    else if (pod.metadata?.deletionTimestamp) plan.leaving.push(pod);
    else {
      const refused = whyItIsRefused(pod, allow);
      if (refused) plan.refuse.push({ pod, name, why: refused });
      else plan.evict.push(pod);
    }
  }
  return plan;
}

/** "namespace/name" */
export function podName(pod: DrainablePod): string {
  return `${pod.metadata?.namespace ?? "default"}/${pod.metadata?.name ?? "?"}`;
}

function whyItStays(pod: DrainablePod): string | undefined {
  if (pod.metadata?.annotations?.[MIRROR] !== undefined) return "is a static pod of the node";
  if (isFinished(pod)) return undefined;
  return controllerOf(pod)?.kind === "DaemonSet" ? "belongs to a DaemonSet" : undefined;
}

function whyItIsRefused(pod: DrainablePod, allow: DrainAllowances): string | undefined {
  if (isFinished(pod)) return undefined;
  const reasons: string[] = [];
  const lost = (pod.spec?.volumes ?? []).filter(
    ({ emptyDir }) => emptyDir !== undefined && emptyDir !== null,
  );
  if (lost.length > 0 && !allow.deleteEmptyDirData) {
    reasons.push(
      `would lose its emptyDir ${lost.map(({ name }) => name).join(", ")} (drain.deleteEmptyDirData allows it)`,
    );
  }
  if (!controllerOf(pod) && !allow.force) {
    reasons.push("has no controller that would make it again (drain.force allows it)");
  }
  return reasons.length > 0 ? reasons.join("; ") : undefined;
}

function isFinished(pod: DrainablePod): boolean {
  return pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
}

function controllerOf(pod: DrainablePod): { kind: string } | undefined {
  return pod.metadata?.ownerReferences?.find(({ controller }) => controller);
}
