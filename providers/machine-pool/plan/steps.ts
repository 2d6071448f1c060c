import { count, line, number, phrase, text, token, value, word } from "../../../lib/steps/line";
import { defineSteps, type StepOf } from "../../../lib/steps/steps";
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

const pool = word("pool");

export const machinePoolSteps = defineSteps({
  make: line`${pool}: make a pool of ${count("replicas", "node")}`,
  /** An autoscaler sets the number of nodes. */
  makeScaled: line`${pool}: make a pool of as many nodes as its autoscaler wants`,
  replace: line`${pool}: replace all ${count("replicas", "node")}, made by another infrastructure`,
  upgrade: line`${pool}: roll all ${count("replicas", "node")}, ${phrase("from")} → ${token("to")}`,
  roll: line`${pool}: roll all ${count("replicas", "node")}, made from another template`,
  grow: line`${pool}: scale ${number("from")} → ${number("to")}, ${count("difference", "node")} more`,
  shrink: line`${pool}: scale ${number("from")} → ${number("to")}, ${count("difference", "node")} less`,
  wait: line`${pool}: wait until every node is Ready`,
  notRead: line`${pool}: not read, ${text("why")}`,
  /** The state of a pool that does not change and is not ready. */
  waits: line`${pool}: ${value("phase [\\s\\S]*?")("state")}`,
  failed: line`${pool}: failed: ${text("why")}`,
});
export type MachinePoolStep = StepOf<typeof machinePoolSteps>;

/**
 * Returns one step for each effect of a change on a pool's machines; none when it has no effect.
 *
 * @param before undefined when there is no pool yet
 */
export function poolSteps(plan: PoolPlan, before: PoolBefore | undefined): MachinePoolStep[] {
  const { name, replicas } = plan;
  const wait: MachinePoolStep = { kind: "wait", pool: name };
  if (before === undefined)
    return [
      replicas === undefined ? { kind: "makeScaled", pool: name } : { kind: "make", pool: name, replicas },
      wait,
    ];
  const steps: MachinePoolStep[] = [];
  const present = before.replicas ?? replicas ?? 0;
  const wanted = replicas ?? present;
  const all = { pool: name, replicas: Math.min(present, wanted) };
  const [from, to] = [before.version, plan.version].map((version) => version && withV(version));
  if (before.isReplaced) steps.push({ kind: "replace", ...all });
  else if (to !== undefined && from !== to)
    steps.push({ kind: "upgrade", ...all, from: from ?? "any version", to });
  else if (!before.isSameTemplate) steps.push({ kind: "roll", ...all });
  const scaling = { pool: name, from: present, to: wanted, difference: Math.abs(wanted - present) };
  if (wanted !== present) steps.push({ kind: wanted > present ? "grow" : "shrink", ...scaling });
  return steps.length === 0 ? [] : [...steps, wait];
}
