import {
  type DrainAllowances,
  emptyDirsOf,
  nameOf,
  planDrain,
  type PodParts,
} from "../../lib/kubernetes/drain/plan";
import type { Finding } from "./facts";

/**
 * Returns findings, node by node, for pods that a drain refuses until their loss is allowed; with the allowance they
 * are warnings.
 *
 * @param pods those of the nodes to drain
 */
export function drainFindings(pods: readonly PodParts[], allow: DrainAllowances): Finding[] {
  const nodes = [...new Set(pods.map(({ spec }) => spec?.nodeName ?? "?"))];
  return nodes.flatMap((node) => {
    const here = pods.filter(({ spec }) => (spec?.nodeName ?? "?") === node);
    const alone = planDrain(here, { force: false, deleteEmptyDirData: true }).refuse;
    const losing = planDrain(here, { force: true, deleteEmptyDirData: false }).refuse;
    const found: Finding[] = [];
    if (alone.length > 0) {
      found.push({
        about: "unmanaged pod",
        weight: allow.force ? "warns" : "blocks",
        words: `${node}: ${names(alone)} ${alone.length === 1 ? "has" : "have"} no controller: an eviction ends ${alone.length === 1 ? "it" : "them"} for good`,
        fix: allow.force ? "start them again elsewhere" : "give them a controller, or allow it with --force",
      });
    }
    if (losing.length > 0) {
      const volumes = losing.map(({ pod, name }) => `${name} (${emptyDirsOf(pod).join(", ")})`).join(", ");
      found.push({
        about: "emptyDir",
        weight: allow.deleteEmptyDirData ? "warns" : "blocks",
        words: `${node}: the data in emptyDir volumes is lost: ${volumes}`,
        fix: allow.deleteEmptyDirData
          ? "save what is worth it"
          : "save what is worth it, then allow it with --delete-emptydir-data",
      });
    }
    return found;
  });
}

function names(judged: readonly { pod: PodParts }[]): string {
  return judged.map(({ pod }) => nameOf(pod)).join(", ");
}
