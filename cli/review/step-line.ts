import { commonSteps } from "../../lib/steps/steps";
import { plural } from "../../lib/text/plural";

/**
 * The kind of a line of the input `steps`: a step that will be done; `unknown`, which is filled in once the cluster
 * exists; or a remark about the live system.
 */
export type StepLine =
  | { readonly kind: "step"; readonly line: string; readonly machine: string; readonly rest: string }
  | {
      readonly kind: "unknown";
      /** Undefined for any machines. */ readonly machines?: readonly string[];
    }
  | {
      /** A part of a machine that could not be read: it may need a step. */
      readonly kind: "unread";
      readonly machine: string;
    }
  | { readonly kind: "remark" };

const REMARKS = [/^from the recorded state\b/, /^\S+ is not Ready: /, /^\S+: left out, /];
const UNKNOWN = /^unknown until [^;]*(?:; wanted: (.*))?$/;

/** Parses one line. A line that is neither a remark nor unknown counts as a step, so that none is missed. */
export function readStepLine(line: string): StepLine {
  if (REMARKS.some((remark) => remark.test(line))) return { kind: "remark" };
  const common = commonSteps.parse(line);
  if (common?.kind === "unread") return { kind: "unread", machine: common.machine };
  const unknown = UNKNOWN.exec(line);
  if (unknown !== null) {
    const machines = unknown[1]?.split(", ").map((name) => name.trim());
    return machines === undefined ? { kind: "unknown" } : { kind: "unknown", machines };
  }
  const [, machine = "", rest = line] = /^([^\s:]+):?\s+(.*)$/s.exec(line) ?? [];
  return { kind: "step", line, machine, rest };
}

/** A step of a version rollout: `cp-1 1.35.4 → 1.36.3, containerd 2.1.4 → 2.2.0 (cordon, drain, …)`. */
const VERSION_STEP = /^(?:\S+ → )?([^\s,]+)((?:, \S+ \S+ → [^\s,]+)*) \((.*)\)$/;

interface VersionStep {
  readonly target: string;
  /** Other changes, `containerd 2.2.0`. */
  readonly further: readonly string[];
  readonly isBegun: boolean;
}

function readVersionStep(line: StepLine): VersionStep | undefined {
  if (line.kind !== "step") return undefined;
  const [, target, further = "", how = ""] = VERSION_STEP.exec(line.rest) ?? [];
  if (target === undefined) return undefined;
  return {
    target,
    further: [...further.matchAll(/, (\S+) \S+ → ([^\s,]+)/g)].map(([, name, to]) => `${name} ${to}`),
    isBegun: how.startsWith("begun by an earlier run: "),
  };
}

/** Returns whether a line is a step of a version rollout. */
export function isVersionStep(line: StepLine): boolean {
  return readVersionStep(line) !== undefined;
}

/**
 * Returns whether a current step is a reviewed one that an earlier run began and did not finish: same machine, same
 * targets.
 */
export function isBegun(now: StepLine, reviewed: StepLine): boolean {
  const [current, promised] = [readVersionStep(now), readVersionStep(reviewed)];
  if (current === undefined || promised === undefined || !current.isBegun) return false;
  if (now.kind !== "step" || reviewed.kind !== "step" || now.machine !== reviewed.machine) return false;
  return (
    current.target === promised.target && current.further.every((change) => promised.further.includes(change))
  );
}

/** Returns `3 steps in 2 resources`, or `3 steps, 4 unread in 2 resources`; remarks do not count. */
export function countSteps(changes: readonly { readonly steps: readonly string[] }[]): string {
  const kinds = changes.flatMap(({ steps }) => steps).map((line) => readStepLine(line).kind);
  const unread = kinds.filter((kind) => kind === "unread").length;
  const steps = kinds.filter((kind) => kind !== "remark").length - unread;
  const counts = [plural(steps, "step"), ...(unread > 0 ? [`${unread} unread`] : [])].join(", ");
  return `${counts} in ${plural(changes.length, "resource")}`;
}
