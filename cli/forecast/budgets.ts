import { claimsOf, type Places, whyNowhereElse } from "../../lib/kubernetes/drain/placement";
import {
  type Budget,
  evictionVerdict,
  nameOf,
  planDrain,
  type PodParts,
} from "../../lib/kubernetes/drain/plan";
import type { Finding } from "./facts";

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
    const where = covered.map(({ pod }) => `${pod.metadata?.name ?? "?"} on ${pod.spec?.nodeName ?? "?"}`);
    return [
      {
        about: "budget",
        weight: "blocks",
        words: `PodDisruptionBudget ${nameOf(budget)} allows no eviction now (${currentHealthy} healthy, ${desiredHealthy} needed): it holds ${where.join(", ")}`,
        fix:
          currentHealthy < desiredHealthy
            ? "make its pods healthy first"
            : "run one replica more than it needs, or let it allow one disruption",
      },
    ];
  });
  const several = judged.flatMap(({ pod, verdict }): Finding[] => {
    if (verdict.kind !== "several") return [];
    const names = verdict.budgets.map(nameOf).join(", ");
    const words = `${nameOf(pod)} on ${pod.spec?.nodeName ?? "?"} is under ${verdict.budgets.length} PodDisruptionBudgets (${names}): the eviction API refuses it`;
    return [{ about: "budget", weight: "blocks", words, fix: "leave one budget for these pods" }];
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
  const nodes = [...new Set(bound.map(({ pod }) => pod.spec?.nodeName ?? "?"))];
  return nodes.flatMap((node) =>
    budgets.flatMap((budget): Finding[] => {
      const here = bound.filter((each) => each.budget === budget && each.pod.spec?.nodeName === node);
      if (here.length === 0) return [];
      const names = here.map(({ pod, why }) => `${nameOf(pod)} (${why})`).join(", ");
      const allowed = budget.status?.disruptionsAllowed ?? 0;
      const fix = "let another node run them";
      if (here.length > allowed)
        return [
          {
            about: "budget",
            weight: "blocks",
            words: `PodDisruptionBudget ${nameOf(budget)} allows ${allowed} of the ${here.length} evictions on ${node}, and no other node can run its pods: ${names}`,
            fix: `${fix}, or let it allow ${here.length} disruptions`,
          },
        ];
      return [
        {
          about: "placement",
          weight: "warns",
          words: `${node}: no other node can run ${names}: away until ${node} is back`,
          fix: `${fix}, or accept the outage`,
        },
      ];
    }),
  );
}

/** Returns whether a pod under a budget uses a claim, whose volume may decide where it can run. */
export function asksForVolumes(budgets: readonly Budget[], pods: readonly PodParts[]): boolean {
  return evictions(pods, budgets).some(
    ({ pod, verdict }) => verdict.kind === "counted" && claimsOf(pod).length > 0,
  );
}
