import { withV } from "./nodes";

/** What somebody wants of a pool, as far as its steps tell it. */
interface PoolPlan {
  name: string;
  /** undefined: an autoscaler decides it */
  replicas?: number;
  version?: string;
}

/** What the pool was before; and whether its machines are made from the same as then, besides the version. */
export interface PoolBefore {
  replicas?: number;
  version?: string;
  isSameTemplate: boolean;
  /** the kind or the name of what makes its machines is another */
  isReplaced: boolean;
}

/**
 * What a change does to a pool's machines, one line each; none when it changes none.
 * @param before undefined when there is no pool yet
 */
export function poolSteps(plan: PoolPlan, before: PoolBefore | undefined): string[] {
  const { name } = plan;
  const wait = `${name}: wait until every node is Ready`;
  if (before === undefined) {
    const count =
      plan.replicas === undefined ? "as many nodes as its autoscaler wants" : nodes(plan.replicas);
    return [`${name}: make a pool of ${count}`, wait];
  }
  const lines: string[] = [];
  const present = before.replicas ?? plan.replicas ?? 0;
  const wanted = plan.replicas ?? present;
  const all = `all ${nodes(Math.min(present, wanted))}`;
  const [from, to] = [before.version, plan.version].map((version) => version && withV(version));
  if (before.isReplaced) lines.push(`${name}: replace ${all}, made by another infrastructure`);
  else if (to !== undefined && from !== to)
    lines.push(`${name}: roll ${all}, ${from ?? "any version"} → ${to}`);
  else if (!before.isSameTemplate) lines.push(`${name}: roll ${all}, made from another template`);
  if (wanted > present) lines.push(`${name}: scale ${present} → ${wanted}, ${nodes(wanted - present)} more`);
  if (wanted < present) lines.push(`${name}: scale ${present} → ${wanted}, ${nodes(present - wanted)} less`);
  return lines.length === 0 ? [] : [...lines, wait];
}

const nodes = (count: number) => `${count} node${count === 1 ? "" : "s"}`;
