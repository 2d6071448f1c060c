import { claimsOf, type Places, whyNowhereElse } from "../../lib/kubernetes/drain/placement";
import {
  type Budget,
  type DrainAllowances,
  emptyDirsOf,
  evictionVerdict,
  namespacedName,
  planDrain,
  type PodParts,
} from "../../lib/kubernetes/drain/plan";
import { listedSentences } from "../../lib/text/quote";
import { minorsBetween, parseVersion } from "../../providers/kubeadm/plan/rollout/versions";

/** A certificate that the cluster or the kubeconfig's user depends on. */
export interface SeenCertificate {
  /** "the API server's certificate (https://10.0.0.1:6443)" */
  what: string;
  /** whether it belongs to the kubeconfig; otherwise to the cluster */
  isOfKubeconfig?: true;
  /** ISO time */
  notAfter: string;
}

/** A problem that a rollout would encounter. */
export interface Finding {
  about:
    | "rollout"
    | "skew"
    | "node"
    | "runtime"
    | "budget"
    | "placement"
    | "unmanaged pod"
    | "emptyDir"
    | "certificate"
    | "API version";
  /** blocks: the rollout would be refused, stop, or break something; warns: it continues with a loss or a risk */
  weight: "blocks" | "warns";
  words: string;
  /** how to fix it */
  fix: string;
}

export const blocks = (about: Finding["about"], words: string, fix: string): Finding => ({
  about,
  weight: "blocks",
  words,
  fix,
});
export const warns = (about: Finding["about"], words: string, fix: string): Finding => ({
  ...blocks(about, words, fix),
  weight: "warns",
});

const nodeOf = ({ spec }: PodParts): string => spec?.nodeName ?? "?";
const nodesOf = (pods: readonly PodParts[]): string[] => [...new Set(pods.map(nodeOf))];

/** Returns what a drain evicts if every loss is allowed, with the eviction API's decision on each pod. */
function evictions(pods: readonly PodParts[], budgets: readonly Budget[]) {
  const { evict } = planDrain(pods, { force: true, deleteEmptyDirData: true });
  return evict.map((pod) => ({ pod, verdict: evictionVerdict(pod, budgets) }));
}

/**
 * Returns findings for budgets that would block a drain now, and for pods with several budgets, which the eviction API
 * always refuses.
 *
 * @param pods those of the nodes to drain
 */
export function budgetFindings(budgets: readonly Budget[], pods: readonly PodParts[]): Finding[] {
  const judged = evictions(pods, budgets);
  const held = budgets.flatMap((budget): Finding[] => {
    const covered = judged.filter(({ verdict }) => verdict.kind === "held" && verdict.budget === budget);
    if (covered.length === 0) return [];
    const { currentHealthy = 0, desiredHealthy = 0 } = budget.status ?? {};
    const where = listedSentences(
      covered.map(({ pod }) => `${pod.metadata?.name ?? "?"} on ${nodeOf(pod)}`),
      ", ",
    );
    const words = `PodDisruptionBudget ${namespacedName(budget)} allows no eviction now (${currentHealthy} healthy, ${desiredHealthy} needed): it blocks ${where}`;
    if (currentHealthy < desiredHealthy) return [blocks("budget", words, "make its pods healthy first")];
    return [blocks("budget", words, "run one replica more than it needs, or let it allow one disruption")];
  });
  const several = judged.flatMap(({ pod, verdict }): Finding[] => {
    if (verdict.kind !== "several") return [];
    const names = listedSentences(verdict.budgets.map(namespacedName), ", ");
    const words = `${namespacedName(pod)} on ${nodeOf(pod)} is under ${verdict.budgets.length} PodDisruptionBudgets (${names}): the eviction API refuses it`;
    return [blocks("budget", words, "leave one budget for these pods")];
  });
  return [...held, ...several];
}

/**
 * Returns findings for pods under a budget that no other node accepts: they are unavailable until their node is back.
 * Where a budget allows fewer evictions than it has such pods on a node, that node's drain can't end.
 *
 * @param pods those of the nodes to drain
 */
export function placementFindings(
  budgets: readonly Budget[],
  pods: readonly PodParts[],
  places: Places,
): Finding[] {
  const bound = evictions(pods, budgets).flatMap(({ pod, verdict }) => {
    if (verdict.kind !== "counted") return [];
    const why = whyNowhereElse(pod, places);
    return why === undefined ? [] : [{ pod, why, budget: verdict.budget }];
  });
  return nodesOf(bound.map(({ pod }) => pod)).flatMap((node) =>
    budgets.flatMap((budget): Finding[] => {
      const here = bound.filter((each) => each.budget === budget && nodeOf(each.pod) === node);
      if (here.length === 0) return [];
      const names = listedSentences(
        here.map(({ pod, why }) => `${namespacedName(pod)} (${why})`),
        ", ",
      );
      const allowed = budget.status?.disruptionsAllowed ?? 0;
      const fix = "let another node run them";
      if (here.length <= allowed) {
        const words = `${node}: no other node can run ${names}: unavailable until ${node} is back`;
        return [warns("placement", words, `${fix}, or accept the outage`)];
      }
      const words = `PodDisruptionBudget ${namespacedName(budget)} allows ${allowed} of the ${here.length} evictions on ${node}, and no other node can run its pods: ${names}`;
      return [blocks("budget", words, `${fix}, or let it allow ${here.length} disruptions`)];
    }),
  );
}

/** Returns whether a pod under a budget uses a claim, whose volume may decide where it can run. */
export function asksForVolumes(budgets: readonly Budget[], pods: readonly PodParts[]): boolean {
  return evictions(pods, budgets).some(
    ({ pod, verdict }) => verdict.kind === "counted" && claimsOf(pod).length > 0,
  );
}

/**
 * Returns findings, node by node, for pods that a drain refuses until their loss is allowed; with the allowance they
 * are warnings.
 *
 * @param pods those of the nodes to drain
 */
export function drainFindings(pods: readonly PodParts[], allow: DrainAllowances): Finding[] {
  return nodesOf(pods).flatMap((node) => {
    const here = pods.filter((pod) => nodeOf(pod) === node);
    const alone = planDrain(here, { force: false, deleteEmptyDirData: true }).refuse;
    const losing = planDrain(here, { force: true, deleteEmptyDirData: false }).refuse;
    const [has, it] = alone.length === 1 ? ["has", "it"] : ["have", "them"];
    const ended = `${node}: ${listedSentences(
      alone.map(({ name }) => name),
      ", ",
    )} ${has} no controller: an eviction deletes ${it} permanently`;
    const volumes = listedSentences(
      losing.map(({ pod, name }) => `${name} (${emptyDirsOf(pod).join(", ")})`),
      ", ",
    );
    const lost = `${node}: the data in emptyDir volumes is lost: ${volumes}`;
    const save = "back up what you need";
    return [
      alone.length > 0 &&
        (allow.force
          ? warns("unmanaged pod", ended, "start them again elsewhere")
          : blocks("unmanaged pod", ended, "give them a controller, or allow it with --force")),
      losing.length > 0 &&
        (allow.deleteEmptyDirData
          ? warns("emptyDir", lost, save)
          : blocks("emptyDir", lost, `${save}, then allow it with --delete-emptydir-data`)),
    ].filter((finding) => finding !== false);
  });
}

const DAY = 86_400_000;
/** A rollout and its repair should finish before a certificate expires. */
const SOON_DAYS = 30;

/** Returns findings for certificates that have expired or expire soon. */
export function certificateFindings(certificates: readonly SeenCertificate[], now: Date): Finding[] {
  return certificates.flatMap(({ what, notAfter, isOfKubeconfig }): Finding[] => {
    const days = Math.floor((new Date(notAfter).getTime() - now.getTime()) / DAY);
    if (days >= SOON_DAYS) return [];
    const day = notAfter.slice(0, 10);
    const words = days < 0 ? `${what} expired on ${day}` : `${what} expires on ${day}, in ${days} days`;
    const renew = "`kubeadm certs renew all` renews it, and so does the rollout";
    return [warns("certificate", words, isOfKubeconfig ? "export the kubeconfig again" : renew)];
  });
}

const FLOW_CONTROL = "flowcontrol.apiserver.k8s.io";

/**
 * Removed API versions (kubernetes.io, deprecated API migration guide): the first minor version without it, the API
 * version, the resources, and what replaces it.
 */
const REMOVALS = [
  ["1.25", "policy/v1beta1", "poddisruptionbudgets", "policy/v1"],
  ["1.25", "policy/v1beta1", "podsecuritypolicies", "Pod Security Admission"],
  ["1.25", "batch/v1beta1", "cronjobs", "batch/v1"],
  ["1.25", "discovery.k8s.io/v1beta1", "endpointslices", "discovery.k8s.io/v1"],
  ["1.25", "events.k8s.io/v1beta1", "events", "events.k8s.io/v1"],
  ["1.25", "node.k8s.io/v1beta1", "runtimeclasses", "node.k8s.io/v1"],
  ["1.25", "autoscaling/v2beta1", "horizontalpodautoscalers", "autoscaling/v2"],
  ["1.26", "autoscaling/v2beta2", "horizontalpodautoscalers", "autoscaling/v2"],
  ["1.26", `${FLOW_CONTROL}/v1beta1`, "flowschemas", `${FLOW_CONTROL}/v1`],
  ["1.26", `${FLOW_CONTROL}/v1beta1`, "prioritylevelconfigurations", `${FLOW_CONTROL}/v1`],
  ["1.29", `${FLOW_CONTROL}/v1beta2`, "flowschemas", `${FLOW_CONTROL}/v1`],
  ["1.29", `${FLOW_CONTROL}/v1beta2`, "prioritylevelconfigurations", `${FLOW_CONTROL}/v1`],
  ["1.32", `${FLOW_CONTROL}/v1beta3`, "flowschemas", `${FLOW_CONTROL}/v1`],
  ["1.32", `${FLOW_CONTROL}/v1beta3`, "prioritylevelconfigurations", `${FLOW_CONTROL}/v1`],
  ["1.27", "storage.k8s.io/v1beta1", "csistoragecapacities", "storage.k8s.io/v1"],
] as const;

/**
 * Returns findings for API versions that were requested since the API server started and that the target no longer has,
 * from the metric apiserver_requested_deprecated_apis.
 */
export function removalFindings(metrics: string, target: string): Finding[] {
  const found = new Map<string, Finding>();
  for (const line of metrics.split("\n")) {
    if (!line.startsWith("apiserver_requested_deprecated_apis{") || /} 0$/.test(line)) continue;
    const label = (name: string) => new RegExp(`[{,]${name}="([^"]*)"`).exec(line)?.[1] ?? "";
    const release = label("removed_release");
    if (!parseVersion(`${release}.0`) || minorsBetween(`${release}.0`, target) < 0) continue;
    const api = `${[label("group"), label("version")].filter(Boolean).join("/")} ${label("resource")}`;
    const instead = REMOVALS.find(([, version, resources]) => `${version} ${resources}` === api)?.[3];
    const words = `${api} is in use, and Kubernetes ${release} removes it`;
    found.set(api, blocks("API version", words, `move its users to ${instead ?? "a newer version of it"}`));
  }
  return [...found.values()];
}

/** Returns the removed API versions that the user must check when the metrics can't be read. */
export function removedBetween(from: string, target: string): string[] {
  return REMOVALS.filter(
    ([release]) => minorsBetween(from, `${release}.0`) > 0 && minorsBetween(`${release}.0`, target) >= 0,
  ).map(([, version, resources]) => `${version} ${resources}`);
}
