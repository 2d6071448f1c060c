import type { V1Node, V1NodeSelector, V1PersistentVolume } from "@kubernetes/client-node";
import type { V1PersistentVolumeClaim, V1Taint, V1Toleration } from "@kubernetes/client-node";
import type { Parts } from "../objects";
import { matchesExpression, type PodParts } from "./plan";

export type SchedulableNode = Parts<V1Node>;

/** The nodes and volumes of a cluster that decide where pods can run. */
export interface Places {
  nodes: readonly SchedulableNode[];
  claims: readonly Parts<V1PersistentVolumeClaim>[];
  volumes: readonly Parts<V1PersistentVolume>[];
}

/** Taints for node conditions, such as not-ready: they are temporary, and a cordon has a field of its own. */
const CONDITION_TAINT = /^node\.kubernetes\.io\//;

/** A reason why nodes do not accept a pod. */
interface Constraint {
  words: string;
  allows: (node: SchedulableNode) => boolean;
}

/**
 * Returns why no other node accepts a pod: node selector, required node affinity, the node affinity of its volumes,
 * taints and cordons. Ignores resources, pod affinity and topology spread.
 *
 * @returns the constraint, such as "node selector disk=ssd"; undefined when another node accepts it
 */
export function whyNowhereElse(pod: PodParts, places: Places): string | undefined {
  const others = places.nodes.filter(({ metadata }) => metadata?.name !== pod.spec?.nodeName);
  const constraints = constraintsOf(pod, places);
  if (others.some((node) => constraints.every(({ allows }) => allows(node)))) return undefined;
  if (others.length === 0) return "there is no other node";
  const alone = constraints.find(({ allows }) => !others.some(allows));
  return (alone ? [alone] : constraints).map(({ words }) => words).join(" and ");
}

/**
 * Returns the claims that a pod uses. Omits generic ephemeral volumes, which are created again with the pod and don't
 * bind it to a node.
 */
export function claimsOf({ spec }: PodParts): string[] {
  return (spec?.volumes ?? []).flatMap((volume) => volume.persistentVolumeClaim?.claimName ?? []);
}

function constraintsOf(pod: PodParts, { claims, volumes }: Places): Constraint[] {
  const { nodeSelector = {}, affinity, tolerations = [] } = pod.spec ?? {};
  const found: Constraint[] = [];
  const wanted = Object.entries(nodeSelector);
  if (wanted.length > 0)
    found.push({
      words: `node selector ${wanted.map(([key, value]) => `${key}=${value}`).join(",")}`,
      allows: ({ metadata }) => wanted.every(([key, value]) => metadata?.labels?.[key] === value),
    });
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required) found.push({ words: "node affinity", allows: (node) => selects(required, node) });
  for (const claim of claimsOf(pod)) {
    const name = claims.find(
      ({ metadata }) => metadata?.name === claim && metadata.namespace === pod.metadata?.namespace,
    )?.spec?.volumeName;
    const volume = volumes.find(({ metadata }) => name !== undefined && metadata?.name === name);
    const places = volume?.spec?.nodeAffinity?.required;
    if (places) found.push({ words: `volume of claim ${claim}`, allows: (node) => selects(places, node) });
  }
  found.push({
    words: "taints and cordons of the other nodes",
    allows: ({ spec }) =>
      spec?.unschedulable !== true &&
      (spec?.taints ?? []).every(
        (taint) =>
          taint.effect === "PreferNoSchedule" ||
          CONDITION_TAINT.test(taint.key ?? "") ||
          tolerations.some((each) => tolerates(each, taint)),
      ),
  });
  return found;
}

/** Terms are alternatives, and a term without any requirement selects nothing. */
function selects({ nodeSelectorTerms = [] }: Parts<V1NodeSelector>, { metadata }: SchedulableNode): boolean {
  const fields = { "metadata.name": metadata?.name ?? "" };
  return nodeSelectorTerms.some(
    ({ matchExpressions = [], matchFields = [] }) =>
      matchExpressions.length + matchFields.length > 0 &&
      matchExpressions.every((expression) => matchesExpression(expression, metadata?.labels ?? {})) &&
      matchFields.every((expression) => matchesExpression(expression, fields)),
  );
}

function tolerates(toleration: Parts<V1Toleration>, taint: Parts<V1Taint>): boolean {
  const { key, operator = "Equal", value = "", effect } = toleration;
  if ((effect && effect !== taint.effect) || (key && key !== taint.key)) return false;
  return operator === "Exists" || (key !== undefined && key !== "" && value === (taint.value ?? ""));
}
