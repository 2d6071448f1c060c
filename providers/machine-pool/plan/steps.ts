import { withV } from "./evaluation";

/** The parts of a desired pool that its steps describe. */
interface PoolPlan {
  name: string;
  /** undefined when an autoscaler sets it */
  replicas?: number;
  version?: string;
}

/** The pool before the change; `isSameTemplate` ignores the version. */
export interface PoolBefore {
  replicas?: number;
  version?: string;
  isSameTemplate: boolean;
  /** whether the kind or the name of the infrastructure object has changed */
  isReplaced: boolean;
}

/**
 * Returns one line for each effect of a change on a pool's machines; none when it has no effect.
 *
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
