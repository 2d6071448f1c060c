import { z } from "zod";
import { check } from "../../../lib/validation/check";
import { quoted } from "../../../lib/text/quote";
import { nearest } from "../../../lib/validation/spelling";
import { duplicateIssues, issueAt, type ValidationIssue } from "../../../lib/validation/validation-issue";

const Gate = z
  .strictObject({
    soakSeconds: z
      .int()
      .min(1)
      .max(86_400)
      .optional()
      .describe("Time to wait, in seconds; the first part of the gate."),
    command: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe(
        "Program and arguments, run in the project's folder without a shell; exit code 0 opens the gate.",
      ),
    commandSeconds: z.int().min(1).max(86_400).default(600).describe("Deadline of the command, in seconds."),
    approval: z.boolean().default(false).describe("Whether a person has to approve, after the other parts."),
  })
  .describe("What has to be true after the wave, before the next one begins.");

const Wave = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, "write lower case letters, digits and -, at most 63")
    .describe("Name of the wave, for messages and `--approve`."),
  stacks: z
    .array(z.string().min(1).max(100))
    .min(1)
    .describe(
      "Names of stacks; `*` stands for any characters, as in `prod-eu*`, and means stacks of no earlier wave.",
    ),
  gate: Gate.optional(),
});

/** The schema of fleet.yaml. */
export const FleetFile = z.strictObject({
  name: z
    .string()
    .regex(
      /^[A-Za-z0-9]([A-Za-z0-9._-]{0,98}[A-Za-z0-9])?$/,
      "write letters, digits, -, _ and ., at most 100",
    )
    .optional()
    .describe("Name of the fleet, which `foresail fleet destroy` asks for; default: that of the project."),
  maxParallel: z
    .int()
    .min(1)
    .max(50)
    .default(2)
    .describe("Number of stacks that are previewed or changed at once."),
  onFailure: z
    .enum(["stop", "continue"])
    .default("stop")
    .describe("`stop`: no further stack begins after a failure; `continue`: the other stacks run, too."),
  waves: z.array(Wave).min(1).describe("The waves, in their order; a wave with one stack is a canary."),
});

/** What has to be true after a wave. */
export type Gate = z.output<typeof Gate>;

/** A wave whose stacks are known. */
export interface Wave {
  readonly name: string;
  readonly stacks: readonly string[];
  readonly gate?: Gate | undefined;
}

/** The stacks of fleet.yaml in their order. */
export interface Fleet {
  /** Default: that of the project. */
  readonly name?: string | undefined;
  readonly maxParallel: number;
  readonly onFailure: "stop" | "continue";
  readonly waves: readonly Wave[];
}

/** Checks the content of fleet.yaml, and finds the stacks of each wave among those that exist. */
export function readFleet(
  value: unknown,
  existing: readonly string[],
): { fleet?: Fleet; issues: readonly ValidationIssue[] } {
  const { value: file, issues } = check(FleetFile, value ?? {}, []);
  if (file === undefined || issues.length > 0) return { issues };
  const named = duplicateIssues(file.waves, ({ name }) => name, "name").map(({ path, message }) => ({
    path: ["waves", ...path],
    message,
  }));
  const taken = new Map<string, string>();
  const found: ValidationIssue[] = [];
  const names = new Set(file.waves.flatMap(({ stacks }) => stacks.filter((text) => !text.includes("*"))));
  const waves = file.waves.map((wave, index) => {
    const stacks = wave.stacks.flatMap((text, at) => {
      const path = ["waves", index, "stacks", at];
      const isPattern = text.includes("*");
      // a stack that is named anywhere belongs there, not to a pattern
      const matches = existing.filter((stack) =>
        isPattern ? !names.has(stack) && !taken.has(stack) && matchesPattern(stack, text) : stack === text,
      );
      if (matches.length === 0) found.push(...issueAt(path, nothingFound(text, isPattern, existing)));
      const twice = matches.filter((stack) => taken.has(stack));
      for (const stack of twice)
        found.push(...issueAt(path, `${quoted(stack)} is in the wave ${taken.get(stack)}, too; remove one`));
      matches.forEach((stack) => taken.set(stack, wave.name));
      return matches.filter((stack) => !twice.includes(stack));
    });
    return { ...wave, stacks };
  });
  const all = [...named, ...found];
  return all.length > 0 ? { issues: all } : { fleet: { ...file, waves }, issues: [] };
}

function nothingFound(text: string, isPattern: boolean, existing: readonly string[]): string {
  if (isPattern)
    return `${quoted(text)} matches no stack that no other wave has; correct it, or create the stacks`;
  const meant = nearest(text, existing);
  return meant === undefined
    ? `there is no stack ${quoted(text)}; create it with: pulumi stack init`
    : `there is no stack ${quoted(text)}; did you mean ${quoted(meant)}?`;
}

/** Returns whether a name matches a pattern in which `*` stands for any characters. */
export function matchesPattern(name: string, pattern: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  if (!name.startsWith(first)) return false;
  const last = rest.pop();
  if (last === undefined) return name === first;
  // each part at its first place leaves the most for the others
  let at = first.length;
  for (const part of rest) {
    const next = name.indexOf(part, at);
    if (next < 0) return false;
    at = next + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}
