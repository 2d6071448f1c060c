import { z } from "zod";
import { plural } from "../../../lib/text/plural";
import { type Fleet, Gate } from "./fleet";
import { Window } from "./window";

/** Number of the file's format. */
export const REVIEW_FORMAT = 1;

const texts = z.array(z.string());

const Change = z.object({
  type: z.string(),
  name: z.string(),
  operation: z.string(),
  steps: texts,
});

const Machine = z.object({
  name: z.string(),
  role: z.string(),
  pool: z.string(),
  zone: z.string(),
  change: z.enum(["stays", "joins", "leaves"]),
  /** The steps that name it. */
  steps: texts,
});

const Stack = z.object({
  /** SHA-256 of its plan; absent for a preview that failed. */
  plan: z.string().optional(),
  system: z.string(),
  version: z.object({ from: z.string().optional(), to: z.string().optional() }),
  unchanged: z.number(),
  /** Number of steps, and of those that could not be read, in words. */
  counts: z.string().regex(/^[a-z0-9, ]*$/),
  changes: z.array(Change),
  machines: z.array(Machine),
  nodeCounts: z.array(z.object({ name: z.string(), count: z.number() })),
  dangers: z.array(z.object({ kind: z.string(), words: z.string() })),
  /** Why the preview failed. */
  errors: texts,
  notes: texts,
  /** Diffs of files, each of the nodes that it names. */
  diffs: z.array(z.object({ nodes: z.string(), lines: texts })),
  /** How long its run takes, by earlier runs. */
  seconds: z.number().optional(),
});

/** What a preview of a fleet found, for those who review it. */
export const FleetReview = z.object({
  formatVersion: z.literal(REVIEW_FORMAT),
  project: z.string(),
  previewedAt: z.string(),
  fleet: z.object({
    name: z.string().optional(),
    maxParallel: z.number(),
    onFailure: z.enum(["stop", "continue"]),
    waves: z.array(
      z.object({
        name: z.string(),
        stacks: texts,
        window: Window.optional(),
        windows: z.record(z.string(), Window).optional(),
        gate: Gate.optional(),
      }),
    ),
  }),
  stacks: z.record(z.string(), Stack),
});
export type FleetReview = z.output<typeof FleetReview>;

/** What the preview of a stack found. */
export type StackReview = z.output<typeof Stack>;

/** Returns the review of a stack whose preview failed before it found anything. */
export const failedReview = (errors: readonly string[]): StackReview => ({
  system: "",
  version: {},
  unchanged: 0,
  counts: "",
  changes: [],
  machines: [],
  nodeCounts: [],
  notes: [],
  diffs: [],
  errors: [...errors],
  dangers: [{ kind: "refused", words: errors.at(-1) ?? "the preview failed" }],
});

/** Returns whether the preview of a stack failed. */
export const hasFailed = ({ plan }: StackReview): boolean => plan === undefined;

/** Returns the versions of a stack: "1.35.4 → 1.36.3", or the one that stays. */
export function versionWords({ version: { from, to } }: StackReview): string {
  return from !== undefined && to !== undefined && from !== to ? `${from} → ${to}` : (to ?? from ?? "");
}

/** Returns what happens to a stack in a few words. */
export function changeWords(stack: StackReview | undefined): string {
  if (stack === undefined) return "not previewed";
  if (hasFailed(stack)) return "failed";
  return stack.changes.length === 0 ? "nothing changes" : stack.counts;
}

/** Returns the number of a stack's steps, remarks included: what later estimates go by. */
export const stepsIn = (stack: StackReview | undefined): number =>
  (stack?.changes ?? []).reduce((sum, { steps }) => sum + steps.length, 0);

/** Returns the result of a preview in one line. */
export function headline({ stacks }: FleetReview): string {
  const all = Object.values(stacks);
  const failed = all.filter(hasFailed).length;
  const changed = all.filter(({ changes }) => changes.length > 0).length;
  const of = plural(all.length, "stack");
  if (failed > 0) return `the preview of ${failed} of ${of} failed`;
  return changed === 0 ? `nothing changes in ${of}` : `changes in ${changed} of ${of}`;
}

/** Returns a fleet as a review has it. */
export const writable = ({ name, maxParallel, onFailure, waves }: Fleet): FleetReview["fleet"] => ({
  name,
  maxParallel,
  onFailure,
  waves: waves.map(({ windows, ...wave }) => ({
    ...wave,
    stacks: [...wave.stacks],
    ...(windows !== undefined && { windows: { ...windows } }),
  })),
});
