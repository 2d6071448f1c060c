import { z } from "zod";
import { check } from "../../../lib/validation/check";
import { isObject } from "../../../lib/json";
import { quoted } from "../../../lib/text/quote";
import { nearest } from "../../../lib/validation/spelling";
import { urlIssue } from "../../../lib/validation/urls";
import { duplicateIssues, issueAt, type ValidationIssue } from "../../../lib/validation/validation-issue";
import { TemporalServer } from "./temporal-server";
import { Window } from "./window";

const deadline = (text: string) => z.int().min(1).max(86_400).describe(text);

export const Gate = z
  .strictObject({
    soakSeconds: z
      .int()
      .min(1)
      .max(86_400)
      .optional()
      .describe("Time to wait, in seconds; the first part of the gate."),
    nodesReady: z
      .boolean()
      .optional()
      .describe(
        "Whether all nodes of the wave's clusters have to be Ready, by the stacks' output `kubeconfig`.",
      ),
    nodesReadySeconds: deadline(
      "Deadline for the nodes of each cluster, in seconds; default: 600.",
    ).optional(),
    url: z
      .string()
      .refine((text) => urlIssue(text) === undefined, {
        error: ({ input }) => urlIssue(String(input)) ?? "",
      })
      .optional()
      .describe("An https or http address that has to answer with a status 2xx; redirects are not followed."),
    urlSeconds: deadline("Deadline for the answer of the URL, in seconds; default: 600.").optional(),
    command: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe(
        "Program and arguments, run in the project's folder without a shell; exit code 0 opens the gate.",
      ),
    commandSeconds: deadline("Deadline of the command, in seconds.").default(600),
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
    )
    .optional(),
  labels: z
    .record(z.string(), z.string())
    .refine((labels) => Object.keys(labels).length > 0, "is empty; write a label, such as stage: canary")
    .optional()
    .describe(
      "Labels (`foresail:labels` of stack files and layers); a stack of no earlier wave that has all of them belongs to the wave.",
    ),
  window: Window.optional(),
  gate: Gate.optional(),
});

const Policy = z
  .strictObject({
    pack: z
      .string()
      .min(1)
      .describe("Folder of the policy pack, from the project's folder; `policy` is foresail's own."),
    environments: z
      .string()
      .min(1)
      .optional()
      .describe(
        "Folder with the pack's parameters, `<stack>.json` for stacks that have their own; default: `environments` in the pack.",
      ),
  })
  .describe("Policies that check each preview; a mandatory one that is violated fails the preview.");

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
  runner: z
    .strictObject({ temporal: TemporalServer })
    .optional()
    .describe("What carries out the waves of `foresail fleet up`; default: processes on this machine."),
  policy: Policy.optional(),
  waves: z.array(Wave).min(1).describe("The waves, in their order; a wave with one stack is a canary."),
});

/** What has to be true after a wave. */
export type Gate = z.output<typeof Gate>;

/** A wave whose stacks are known. */
export interface Wave {
  readonly name: string;
  readonly stacks: readonly string[];
  readonly window?: Window | undefined;
  readonly gate?: Gate | undefined;
}

/** The stacks of fleet.yaml in their order. */
export interface Fleet {
  /** Default: that of the project. */
  readonly name?: string | undefined;
  readonly maxParallel: number;
  readonly onFailure: "stop" | "continue";
  readonly runner?: { readonly temporal: TemporalServer } | undefined;
  readonly policy?: z.output<typeof Policy> | undefined;
  readonly waves: readonly Wave[];
}

/** All stacks of a fleet in the order of the waves. */
export const stacksOf = ({ waves }: { readonly waves: readonly Pick<Wave, "stacks">[] }): string[] =>
  waves.flatMap(({ stacks }) => stacks);

/** Labels of stacks, by stack. */
export type LabelsOfStacks = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Returns whether a content of fleet.yaml, valid or not, chooses stacks by their labels. */
export const choosesByLabel = (value: unknown): boolean =>
  isObject(value) &&
  Array.isArray(value.waves) &&
  value.waves.some((wave: unknown) => isObject(wave) && "labels" in wave);

/** Returns the stacks of a content of fleet.yaml that is valid and chooses all of them by name; else undefined. */
export function namedStacks(value: unknown): string[] | undefined {
  const { data } = FleetFile.safeParse(value);
  if (data === undefined || choosesByLabel(data)) return undefined;
  const names = data.waves.flatMap(({ stacks = [] }) => stacks);
  return names.some((name) => name.includes("*")) ? undefined : [...new Set(names)];
}

/**
 * Checks the content of fleet.yaml, and finds the stacks of each wave among those that exist.
 *
 * @param nodesIssue returns why the nodes of a stack can't be asked whether they are Ready
 */
export function readFleet(
  value: unknown,
  existing: readonly string[],
  labelsOf: LabelsOfStacks = {},
  nodesIssue: (stack: string) => string | undefined = () => undefined,
): { fleet?: Fleet; issues: readonly ValidationIssue[] } {
  const { value: file, issues } = check(FleetFile, value ?? {}, []);
  if (file === undefined || issues.length > 0) return { issues };
  const named = duplicateIssues(file.waves, ({ name }) => name, "name").map(({ path, message }) => ({
    path: ["waves", ...path],
    message,
  }));
  const taken = new Map<string, string>();
  const found: ValidationIssue[] = [];
  const names = new Set(
    file.waves.flatMap(({ stacks = [] }) => stacks.filter((text) => !text.includes("*"))),
  );
  // a stack that is named anywhere belongs there, not to a pattern or to labels
  const isFree = (stack: string) => !names.has(stack) && !taken.has(stack);
  const take = (stacks: readonly string[], wave: string) => stacks.forEach((stack) => taken.set(stack, wave));
  const waves = file.waves.map((wave, index) => {
    const path = ["waves", index];
    const listed = (wave.stacks ?? []).flatMap((text, at) => {
      const isPattern = text.includes("*");
      const matches = existing.filter((stack) =>
        isPattern ? isFree(stack) && matchesPattern(stack, text) : stack === text,
      );
      const here = [...path, "stacks", at];
      if (matches.length === 0) found.push(...issueAt(here, nothingFound(text, isPattern, existing)));
      const twice = matches.filter((stack) => taken.has(stack));
      for (const stack of twice)
        found.push(...issueAt(here, `${quoted(stack)} is in the wave ${taken.get(stack)}, too; remove one`));
      take(matches, wave.name);
      return matches.filter((stack) => !twice.includes(stack));
    });
    const { labels } = wave;
    const labelled =
      labels === undefined
        ? []
        : existing.filter((stack) => isFree(stack) && hasLabels(labelsOf[stack] ?? {}, labels));
    take(labelled, wave.name);
    if (labels !== undefined && labelled.length === 0)
      found.push(...issueAt([...path, "labels"], NO_LABELLED));
    if (labels === undefined && wave.stacks === undefined)
      found.push(...issueAt(path, "chooses no stacks; write `stacks` or `labels`"));
    const stacks = [...listed, ...labelled];
    if (wave.gate?.nodesReady)
      for (const stack of stacks) {
        const why = nodesIssue(stack);
        const fix = "; remove nodesReady, or put the stack into a wave without it";
        found.push(...issueAt([...path, "gate", "nodesReady"], why && `${stack} ${why}${fix}`));
      }
    return { ...wave, stacks };
  });
  const all = [...named, ...found];
  return all.length > 0 ? { issues: all } : { fleet: { ...file, waves }, issues: [] };
}

const NO_LABELLED =
  "no stack that no other wave has has these labels; correct them, or set them with `foresail:labels` in stack files or layers";

const hasLabels = (labels: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>>) =>
  Object.entries(wanted).every(([name, value]) => Object.hasOwn(labels, name) && labels[name] === value);

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
