import { z } from "zod";
import { check } from "../../../lib/validation/check";
import { isObject } from "../../../lib/json";
import { quoted } from "../../../lib/text/quote";
import { urlIssue } from "../../../lib/validation/urls";
import { duplicateIssues, issueAt, type ValidationIssue } from "../../../lib/validation/validation-issue";
import { chooseStacks, type LabelsOfStacks, selectionFields, unknownStack } from "./selection";
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
  ...selectionFields(
    "Names of stacks; `*` stands for any characters, as in `prod-eu*`, and means stacks of no earlier wave.",
    "Labels (`foresail:labels` of stack files and layers); a stack of no earlier wave that has all of them belongs to the wave.",
  ),
  window: Window.optional(),
  gate: Gate.optional(),
});

const StackWindow = z
  .strictObject({
    ...selectionFields(
      "Names of stacks of the waves; `*` stands for any characters, and means stacks of no earlier entry.",
      "Labels (`foresail:labels` of stack files and layers), such as `region: eu`; a stack of the waves and of no earlier entry that has all of them.",
    ),
    ...Window.shape,
  })
  .describe(
    "When these stacks may begin, in whatever wave they are; it counts instead of the wave's window.",
  );

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
  windows: z.array(StackWindow).default([]).describe("Windows of stacks, such as one for each region."),
});

/** What has to be true after a wave. */
export type Gate = z.output<typeof Gate>;

/** A wave whose stacks are known. */
export interface Wave {
  readonly name: string;
  readonly stacks: readonly string[];
  readonly window?: Window | undefined;
  /** The windows of stacks that have their own, which count instead of the wave's. */
  readonly windows?: Readonly<Record<string, Window>> | undefined;
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

/** Returns whether a content of fleet.yaml, valid or not, chooses stacks by their labels. */
export const choosesByLabel = (value: unknown): boolean =>
  isObject(value) &&
  [value.waves, value.windows].some(
    (list) => Array.isArray(list) && list.some((entry: unknown) => isObject(entry) && "labels" in entry),
  );

/** Returns the stacks of a content of fleet.yaml that is valid and chooses all of them by name; else undefined. */
export function namedStacks(value: unknown): string[] | undefined {
  const { data } = FleetFile.safeParse(value);
  if (data === undefined || data.waves.some(({ labels }) => labels !== undefined)) return undefined;
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
  const inWaves = chooseStacks(file.waves, {
    list: "waves",
    existing,
    labelsOf,
    taken: (stack, wave) => `${quoted(stack)} is in the wave ${file.waves[wave]?.name}, too; remove one`,
    unknown: (name) => unknownStack(name, existing),
    among: "that no other wave has",
    fix: "correct it, or create the stacks",
  });
  const all = inWaves.chosen.flat();
  const withWindow = chooseStacks(file.windows, {
    list: "windows",
    existing: all,
    labelsOf,
    taken: (stack, entry) => `${quoted(stack)} has the window windows[${entry}], too; remove one`,
    unknown: (name) =>
      existing.includes(name) ? `${quoted(name)} is in no wave; remove it` : unknownStack(name, existing),
    among: "of the waves that has no other window",
    fix: "correct it, or remove it",
  });
  // a wave without its stacks would give issues that are none
  const found = inWaves.issues.length > 0 ? inWaves.issues : withWindow.issues;
  const waves = file.waves.map((wave, index) => {
    const stacks = inWaves.chosen[index] ?? [];
    if (wave.gate?.nodesReady)
      for (const stack of stacks) {
        const why = nodesIssue(stack);
        const fix = "; remove nodesReady, or put the stack into a wave without it";
        found.push(...issueAt(["waves", index, "gate", "nodesReady"], why && `${stack} ${why}${fix}`));
      }
    const own = file.windows.flatMap(({ stacks: _, labels: __, ...window }, entry) =>
      (withWindow.chosen[entry] ?? [])
        .filter((stack) => stacks.includes(stack))
        .map((stack) => [stack, window] as const),
    );
    return { ...wave, stacks, ...(own.length > 0 && { windows: Object.fromEntries(own) }) };
  });
  const { windows: _, ...rest } = file;
  const wrong = [...named, ...found];
  return wrong.length > 0 ? { issues: wrong } : { fleet: { ...rest, waves }, issues: [] };
}
