import { count, stepLine, number, phrase, prose, token, value, word } from "../../../lib/steps/line";
import { defineSteps, type StepOf } from "../../../lib/steps/steps";
import { withV } from "./evaluation";
import type { TemplateChange } from "./roll";

/** The parts of a desired pool that its steps describe. */
interface PoolPlan {
  name: string;
  /** undefined when an autoscaler sets it */
  replicas?: number;
  version?: string;
}

/** The pool before the change. */
export interface PoolBefore {
  replicas?: number;
  version?: string;
  /** what the change of its template does with its machines, apart from a change of the version */
  change: TemplateChange;
  /** the machines that an earlier change has to replace */
  outdated?: number;
}

const pool = word("pool");

export const machinePoolSteps = defineSteps({
  make: stepLine`${pool}: make a pool of ${count("replicas", "node")}`,
  /** An autoscaler sets the number of nodes. */
  makeScaled: stepLine`${pool}: make a pool of as many nodes as its autoscaler wants`,
  replace: stepLine`${pool}: replace all ${count("replicas", "node")}, made by another infrastructure`,
  upgrade: stepLine`${pool}: roll all ${count("replicas", "node")}, ${phrase("from")} → ${token("to")}`,
  roll: stepLine`${pool}: roll all ${count("replicas", "node")}, made from another template`,
  /** A change of the bootstrap, or of a field whose effect depends on the provider. */
  open: stepLine`${pool}: its infrastructure provider decides whether ${count("replicas", "node")} are replaced`,
  keep: stepLine`${pool}: keep all ${count("replicas", "node")}, the change is for new ones`,
  /** A change of an earlier run, whose roll has not ended. */
  finishRoll: stepLine`${pool}: finish the roll, ${count("outdated", "machine")} of an earlier template left`,
  grow: stepLine`${pool}: scale ${number("from")} → ${number("to")}, ${count("difference", "node")} more`,
  shrink: stepLine`${pool}: scale ${number("from")} → ${number("to")}, ${count("difference", "node")} less`,
  wait: stepLine`${pool}: wait until every node is Ready`,
  notRead: stepLine`${pool}: not read, ${prose("why")}`,
  /** The state of a pool that does not change and is not ready. */
  waits: stepLine`${pool}: ${value("phase [\\s\\S]*?")("state")}`,
  failed: stepLine`${pool}: failed: ${prose("why")}`,
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
  const { change, outdated = 0 } = before;
  if (change === "replace") steps.push({ kind: "replace", ...all });
  else if (to !== undefined && from !== to)
    steps.push({ kind: "upgrade", ...all, from: from ?? "any version", to });
  else if (change !== "none" && all.replicas > 0) steps.push({ kind: change, ...all });
  const scaling = { pool: name, from: present, to: wanted, difference: Math.abs(wanted - present) };
  if (wanted !== present) steps.push({ kind: wanted > present ? "grow" : "shrink", ...scaling });
  const isPending = steps.length > 0 && outdated > 0 && change !== "replace" && change !== "roll";
  if (isPending) steps.unshift({ kind: "finishRoll", pool: name, outdated });
  return steps.length === 0 ? [] : [...steps, wait];
}
