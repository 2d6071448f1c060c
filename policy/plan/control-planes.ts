import { isUnknown } from "../../lib/unknown";
import { valueAt } from "../../lib/validation/validation-issue";
import { isOwn, objectsOf, type PolicyResource, type ResourceRule } from "./rule";

/** Returns how many control planes a resource makes; undefined for one that makes none, or while it is unknown. */
function controlPlaneCount(resource: PolicyResource): number | undefined {
  const { type, values } = resource;
  if (isOwn(resource, "ClusterInit")) {
    const machines = objectsOf(values["machines"]);
    if (machines.some(({ role }) => isUnknown(role))) return undefined;
    return machines.filter(({ role }) => role === "control-plane").length;
  }
  // a cluster through Azimuth
  if (type !== "kubernetes:helm.sh/v3:Release") return undefined;
  const count = valueAt(values, ["values", "controlPlane", "machineCount"]);
  return typeof count === "number" ? count : undefined;
}

/** Control planes are odd in number, and at least `minimum`. */
export const oddControlPlanes: ResourceRule<{ minimum: number }> = {
  name: "odd-control-planes",
  description: "The control planes are odd in number, and enough to survive a failure.",
  parameters: {
    minimum: { type: "integer", description: "The smallest accepted number.", default: 3 },
  },
  check(resource, { minimum }) {
    const count = controlPlaneCount(resource);
    if (count === undefined || (count % 2 === 1 && count >= minimum)) return [];
    const odd = Math.max(minimum % 2 === 1 ? minimum : minimum + 1, count % 2 === 1 ? count : count + 1);
    const problem =
      count < minimum
        ? `the cluster has ${count} control planes, fewer than ${minimum}`
        : `${count} control planes tolerate no more failures than ${count - 1}`;
    return [{ problem, fix: `use ${odd} control planes` }];
  },
};

/** A cluster can't be deleted by mistake. */
export const protectedControlPlanes: ResourceRule = {
  name: "protected-control-planes",
  description: "The cluster is protected from being deleted.",
  parameters: {},
  check(resource) {
    if (!isOwn(resource, "ClusterInit") || resource.isProtected) return [];
    // what destroy only releases keeps running
    const { adopt } = resource.values;
    if (adopt !== undefined && valueAt(adopt, ["reset"]) !== true) return [];
    return [
      {
        problem: "destroy, or a removal from the configuration, would delete the cluster",
        fix: "set cluster.deletionProtection: true, or the option protect of the component in your own program",
      },
    ];
  },
};
