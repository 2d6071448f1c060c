import { type Budget, covers, type PodParts } from "../../lib/kubernetes/drain/plan";
import { matchesPattern } from "../../lib/text/pattern";
import { isKnown, isUnknown } from "../../lib/unknown";
import { valueAt } from "../../lib/validation/validation-issue";
import { isOwn, type PolicyResource, type StackFinding, type StackRule } from "./rule";

/** How `@pulumi/kubernetes` calls the type of an object: group, version and kind. */
const KUBERNETES_TYPE = /^kubernetes:[\w.-]+\/\w+:(\w+)$/;
const WORKLOADS = ["Deployment", "StatefulSet"];

/** Returns the kind of a Kubernetes object; undefined for every other resource. */
const kindOf = ({ type }: PolicyResource): string | undefined => KUBERNETES_TYPE.exec(type)?.[1];

/** Returns the name of an object in the cluster; that of the resource while it is not known. */
function objectName({ name, values }: PolicyResource): string {
  const given = valueAt(values, ["metadata", "name"]);
  return typeof given === "string" && !isUnknown(given) ? given : name;
}

function namespaceOf({ values }: PolicyResource): unknown {
  return valueAt(values, ["metadata", "namespace"]) ?? "default";
}

/** A stack with a cluster registers what backs it up. */
export const backups: StackRule<{ objects: string[] }> = {
  name: "backups",
  description: "A stack with a cluster registers an object that backs it up.",
  parameters: {
    objects: {
      type: "array",
      items: { type: "string" },
      description:
        "Objects that back up a cluster, as kind and name, where * stands for any characters: " +
        '["Schedule *", "CronJob etcd-*"]. One of them has to be registered. An empty list demands none.',
      default: [],
    },
  },
  checkStack(resources, { objects }) {
    const cluster = resources.find((resource) => isOwn(resource, "ClusterInit"));
    if (cluster === undefined || objects.length === 0) return [];
    const registered = resources.flatMap((resource) => {
      const kind = kindOf(resource);
      return kind === undefined ? [] : [`${kind} ${objectName(resource)}`];
    });
    if (registered.some((object) => objects.some((pattern) => matchesPattern(object, pattern)))) return [];
    return [
      {
        urn: cluster.urn,
        problem: `the stack registers no object that backs up the cluster: ${objects.join(", ")}`,
        fix: "register one of them beside the cluster, or disable this rule where something else makes the backups",
      },
    ];
  },
};

/** Returns whether a budget covers the pods of a workload, or may do so while a value is unknown. */
function mayCover(budget: PolicyResource, workload: PolicyResource): boolean {
  const selector = valueAt(budget.values, ["spec", "selector"]);
  const labels = valueAt(workload.values, ["spec", "template", "metadata", "labels"]);
  const namespaces = [namespaceOf(budget), namespaceOf(workload)];
  if (!isKnown([selector, labels, ...namespaces])) return true;
  const [ofBudget, ofWorkload] = namespaces;
  return covers(
    { metadata: { namespace: ofBudget }, spec: { selector } } as Budget,
    { metadata: { namespace: ofWorkload, labels } } as PodParts,
  );
}

/** Workloads that a stack brings into its cluster have budgets, so that a rollout can't stop them. */
export const disruptionBudgets: StackRule<{ exceptNamespaces: string[] }> = {
  name: "disruption-budgets",
  description: "Each workload of several replicas that the stack registers has a PodDisruptionBudget.",
  parameters: {
    exceptNamespaces: {
      type: "array",
      items: { type: "string" },
      description: "Namespaces whose workloads need no budget, such as those of charts of others.",
      default: ["kube-system"],
    },
  },
  checkStack(resources, { exceptNamespaces }) {
    const budgets = resources.filter((resource) => kindOf(resource) === "PodDisruptionBudget");
    return resources
      .filter((resource) => WORKLOADS.includes(kindOf(resource) ?? ""))
      .filter((workload) => {
        const replicas = valueAt(workload.values, ["spec", "replicas"]);
        return typeof replicas === "number" && replicas > 1;
      })
      .filter((workload) => !exceptNamespaces.includes(String(namespaceOf(workload))))
      .filter((workload) => !budgets.some((budget) => mayCover(budget, workload)))
      .map((workload): StackFinding => {
        const name = objectName(workload);
        return {
          urn: workload.urn,
          problem: `a rollout can stop all replicas of ${name} at once: no PodDisruptionBudget of the stack selects its pods`,
          fix: `register a PodDisruptionBudget for ${name} with minAvailable or maxUnavailable`,
        };
      });
  },
};
