/**
 * What a line of the input `steps` is: a step that will be done; `unknown`, which is filled in once the cluster
 * exists; or a remark about the live system that does nothing.
 */
export type StepLine =
  | { readonly kind: "step"; readonly line: string; readonly machine: string; readonly rest: string }
  | {
      readonly kind: "unknown";
      /** Undefined: whatever machines there are. */ readonly machines?: readonly string[];
    }
  | { readonly kind: "remark" };

const REMARKS = [/^from the recorded state\b/, /^\S+ is not Ready: /];
const UNKNOWN = /^unknown until [^;]*(?:; wanted: (.*))?$/;

/** Reads one line. A line that is neither remark nor unknown counts as a step, so that nothing slips by. */
export function readStepLine(line: string): StepLine {
  if (REMARKS.some((remark) => remark.test(line))) return { kind: "remark" };
  const unknown = UNKNOWN.exec(line);
  if (unknown !== null) {
    const machines = unknown[1]?.split(", ").map((name) => name.trim());
    return machines === undefined ? { kind: "unknown" } : { kind: "unknown", machines };
  }
  const [, machine = "", rest = line] = /^([^\s:]+):?\s+(.*)$/s.exec(line) ?? [];
  return { kind: "step", line, machine, rest };
}

/** A version step that an earlier run began on this node: `1.35.4 → 1.36.3 (resumed: …)`. */
const VERSION_STEP = /^(?:\S+ )?→ (\S+) \((.*)\)$/;

/** Whether a step of now is a reviewed one that an earlier run began and did not end: same machine, same target. */
export function isBegun(now: StepLine, reviewed: StepLine): boolean {
  if (now.kind !== "step" || reviewed.kind !== "step" || now.machine !== reviewed.machine) return false;
  const [, target, how = ""] = VERSION_STEP.exec(now.rest) ?? [];
  const [, promised] = VERSION_STEP.exec(reviewed.rest) ?? [];
  return target !== undefined && target === promised && /^(?:resum|finish|go on)/.test(how);
}

/** How many lines of these changes are something to be done, remarks not counted. */
export function countSteps(changes: readonly { readonly steps: readonly string[] }[]): number {
  return changes.flatMap(({ steps }) => steps).filter((line) => readStepLine(line).kind !== "remark").length;
}
