import { choice, type Line, stepLine, optional, phrase, prose, value, word, words } from "./line";

type Lines = Readonly<Record<string, Line<unknown>>>;

/** The steps of a table: one type for each kind. */
type StepsOf<Table extends Lines> = {
  [Kind in keyof Table & string]: { readonly kind: Kind } & (Table[Kind] extends Line<infer Fields>
    ? Readonly<Fields>
    : never);
}[keyof Table & string];

/** The kinds of lines that a resource shows in previews; both directions come from the same definition. */
export interface StepTable<Step extends { readonly kind: string }> {
  readonly lines: Lines;
  format(this: void, step: Step): string;
  /** Returns undefined for a line of no known kind. */
  parse(this: void, line: string): Step | undefined;
}

export type StepOf<Table> = Table extends StepTable<infer Step> ? Step : never;

/** Kinds that every resource may show. */
const COMMON = {
  recorded: stepLine`from the recorded state, since ${choice("what", ["the cluster", "the server"])} could not be read: ${prose("why")}`,
  unknown: stepLine`unknown until ${choice("until", [
    "the cluster exists",
    "the machines exist",
    "the machines answer",
    "the server is read",
    "its name is known",
    "its values are known",
  ])}${optional(stepLine`; wanted: ${words("wanted")}`)}`,
  /** A part of a machine that could not be read: it may need a step. */
  unread: stepLine`${word("machine")}: unread: ${prose("what")}`,
  leftOut: stepLine`${word("machine")}: left out, ${prose("why")}; the next \`up\` continues with it`,
  unchecked: stepLine`${choice("what", ["the cloud", "the server"])} could not be read, so nothing of it was checked: ${prose("why")}`,
  /** A line of a run after this one. */
  later: stepLine`then, ${phrase("run")}: ${prose("line")}`,
};

export type CommonStep = StepsOf<typeof COMMON>;

/** Defines the lines of a resource, by kind. The kinds that all resources have are included. */
export function defineSteps<Table extends Lines>(own: Table): StepTable<StepsOf<Table> | CommonStep> {
  type Step = StepsOf<Table> | CommonStep;
  const lines: Lines = { ...own, ...COMMON };
  return {
    lines,
    format({ kind, ...fields }: Step) {
      const known = lines[kind];
      if (known === undefined) throw new Error(`no line is defined for steps of the kind ${kind}`);
      return known.format(fields);
    },
    parse(words) {
      for (const [kind, each] of Object.entries(lines)) {
        const fields = each.parse(words);
        if (fields !== undefined) return { kind, ...fields } as Step;
      }
      return undefined;
    },
  };
}

/** The lines that every resource may show. */
export const commonSteps = defineSteps({});

/**
 * Returns the steps of a preview when the cluster could not be read: the reason, the steps from the recorded state, then
 * the unknown part of each recorded machine without a step. Empty when there are no machines and no steps.
 *
 * @param why the error text
 * @param steps from the recorded state alone
 * @param recorded names of the machines that were in the cluster
 * @param what the part of each that is unknown
 */
export function stepsOfUnread<Step extends { readonly kind: string }>(args: {
  why: string;
  steps: readonly Step[];
  recorded: readonly string[];
  what: string;
}): (Step | CommonStep)[] {
  const { why, steps, recorded, what } = args;
  const named = new Set(steps.flatMap((step) => machineOfStep(step) ?? []));
  const unread = recorded
    .filter((machine) => !named.has(machine))
    .map((machine): CommonStep => ({ kind: "unread", machine, what }));
  if (steps.length + unread.length === 0) return [];
  return [{ kind: "recorded", what: "the cluster", why }, ...steps, ...unread];
}

/** Returns the machine that a step is about; undefined when it is about none. */
export function machineOfStep(step: object): string | undefined {
  return "machine" in step && typeof step.machine === "string" ? step.machine : undefined;
}

/** A message about a resource: "NodeRollout onprem: w-1 is paused". */
export const resourceMessage = stepLine`${value("[A-Z]\\w+")("type")} ${phrase("name")}: ${prose("line")}`;

/** The runs after this one, as their lines name them. */
const RUNS = ["in the next run", "in the run after it"];

/** Returns what the remaining runs do to the machines, one line each, in order. */
export function laterLines(runs: readonly { readonly lines: readonly string[] }[]): string[] {
  return runs.flatMap(({ lines }, index) =>
    lines.map((each) =>
      commonSteps.format({ kind: "later", run: RUNS[index] ?? `in run ${index + 2}`, line: each }),
    ),
  );
}
