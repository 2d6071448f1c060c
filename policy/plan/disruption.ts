import { CONTROL_PLANE_GROUP } from "../../providers/kubeadm/plan/cluster/machine";
import { maxUnavailableCount } from "../../providers/kubeadm/plan/rollout/desired";
import { valueAt } from "../../lib/validation/validation-issue";
import { type Violation, isOwn, objectsOf, type ResourceRule } from "./rule";

type Limit = Parameters<typeof maxUnavailableCount>[0];

const isLimit = (value: unknown): value is Limit =>
  typeof value === "number" || (typeof value === "string" && /^\d+%$/.test(value));

/** A rollout takes away a bounded part of each pool at once. */
export const boundedDisruption: ResourceRule<{ maxPercent: number }> = {
  name: "bounded-disruption",
  description: "A rollout makes only a bounded part of each worker pool unavailable at once.",
  parameters: {
    maxPercent: {
      type: "integer",
      description: "The largest part of a pool, in percent, rounded down; one node is always accepted.",
      default: 34,
    },
  },
  check(resource, { maxPercent }) {
    if (!isOwn(resource, "NodeRollout")) return [];
    const { machines, rollout } = resource.values;
    const groups = objectsOf(machines).map(({ group }) => String(group));
    const pools = [...new Set(groups)].filter((pool) => pool !== CONTROL_PLANE_GROUP);
    return pools.flatMap((pool): Violation[] => {
      const own = valueAt(rollout, ["pools", pool, "maxUnavailable"]);
      const limit = own ?? valueAt(rollout, ["maxUnavailable"]);
      if (!isLimit(limit)) return [];
      const size = groups.filter((group) => group === pool).length;
      const [count, most] = [maxUnavailableCount(limit, size), maxUnavailableCount(`${maxPercent}%`, size)];
      if (count <= most) return [];
      const field = own === undefined ? "rollout.maxUnavailable" : `rollout.pools.${pool}.maxUnavailable`;
      return [
        {
          problem: `${count} of the ${size} nodes of ${pool} may be unavailable at once`,
          fix: `set cluster.${field} to at most ${most}`,
        },
      ];
    });
  },
};
