import { z } from "zod";
import { matchesPattern } from "../../../lib/text/pattern";
import { quoted } from "../../../lib/text/quote";
import { nearest } from "../../../lib/validation/spelling";
import { issueAt, type ValidationIssue } from "../../../lib/validation/validation-issue";

/** The fields by which an entry of fleet.yaml chooses stacks. */
export const selectionFields = (stacks: string, labels: string) => ({
  stacks: z.array(z.string().min(1).max(100)).min(1).describe(stacks).optional(),
  labels: z
    .record(z.string(), z.string())
    .refine((value) => Object.keys(value).length > 0, "is empty; write a label, such as stage: canary")
    .optional()
    .describe(labels),
});

/** Labels of stacks, by stack. */
export type LabelsOfStacks = Readonly<Record<string, Readonly<Record<string, string>>>>;

interface Selection {
  readonly stacks?: readonly string[] | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** The stacks to choose from, and what is said about a choice that is not possible. */
interface Choice {
  /** The list of fleet.yaml. */
  readonly list: "waves" | "windows";
  readonly existing: readonly string[];
  readonly labelsOf: LabelsOfStacks;
  /** Why a stack can't be chosen that an earlier entry has. */
  readonly taken: (stack: string, entry: number) => string;
  /** Why a name is none of the stacks. */
  readonly unknown: (name: string) => string;
  /** The stacks among which a pattern or labels find none: "that no other wave has". */
  readonly among: string;
  /** What to do about such a pattern. */
  readonly fix: string;
}

/**
 * Returns the stacks of each entry of a list. A stack belongs to the entry that names it; else to the first entry with a
 * pattern or labels for it.
 */
export function chooseStacks(
  entries: readonly Selection[],
  { list, existing, labelsOf, taken, unknown, among, fix }: Choice,
): { chosen: string[][]; issues: ValidationIssue[] } {
  const owners = new Map<string, number>();
  const issues: ValidationIssue[] = [];
  const names = new Set(entries.flatMap(({ stacks = [] }) => stacks.filter((text) => !text.includes("*"))));
  // a stack that is named anywhere belongs there, not to a pattern or to labels
  const isFree = (stack: string) => !names.has(stack) && !owners.has(stack);
  const chosen = entries.map(({ stacks, labels }, entry) => {
    const path = [list, entry];
    const take = (found: readonly string[]) => found.forEach((stack) => owners.set(stack, entry));
    const listed = (stacks ?? []).flatMap((text, at) => {
      const isPattern = text.includes("*");
      const matches = existing.filter((stack) =>
        isPattern ? isFree(stack) && matchesPattern(stack, text) : stack === text,
      );
      const here = [...path, "stacks", at];
      const nothing = isPattern ? `${quoted(text)} matches no stack ${among}; ${fix}` : unknown(text);
      if (matches.length === 0) issues.push(...issueAt(here, nothing));
      const twice = matches.filter((stack) => owners.has(stack));
      for (const stack of twice) issues.push(...issueAt(here, taken(stack, owners.get(stack) ?? 0)));
      take(matches);
      return matches.filter((stack) => !twice.includes(stack));
    });
    const labelled =
      labels === undefined
        ? []
        : existing.filter((stack) => isFree(stack) && hasLabels(labelsOf[stack] ?? {}, labels));
    take(labelled);
    if (labels !== undefined && labelled.length === 0)
      issues.push(...issueAt([...path, "labels"], `match no stack ${among}; ${SET_LABELS}`));
    if (labels === undefined && stacks === undefined)
      issues.push(...issueAt(path, "chooses no stacks; write `stacks` or `labels`"));
    return [...listed, ...labelled];
  });
  return { chosen, issues };
}

const SET_LABELS = "correct them, or set them with `foresail:labels` in stack files or layers";

const hasLabels = (labels: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>>) =>
  Object.entries(wanted).every(([name, value]) => Object.hasOwn(labels, name) && labels[name] === value);

/** Returns why a name is none of the stacks, with the one that was probably meant. */
export function unknownStack(name: string, existing: readonly string[]): string {
  const meant = nearest(name, existing);
  return meant === undefined
    ? `there is no stack ${quoted(name)}; create it with: pulumi stack init`
    : `there is no stack ${quoted(name)}; did you mean ${quoted(meant)}?`;
}
