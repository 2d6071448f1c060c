import { getMaxListeners, setMaxListeners } from "node:events";
import { mkdir, rm } from "node:fs/promises";
import { messageOf } from "../../../lib/error-message";
import { fileFault } from "../../../lib/files";
import { displayText } from "../../../lib/text/display";
import { NotAPreviewError } from "../../review/preview";
import { plural } from "../../../lib/text/plural";
import type { Project } from "../../engine/pulumi";
import { policyArguments, type PolicyOptions } from "../../engine/policy-call";
import { previewForFleet } from "../../commands/preview";
import { forEachStack } from "../run/each-stack";
import { planFile } from "../files/load";
import { type Fleet, stacksOf } from "../plan/fleet";
import { changeWords, failedReview, hasFailed, type StackReview, stepsIn, writable } from "../plan/review";
import { estimateSeconds, type History } from "../plan/timeline";
import { policyOf } from "../review/policy";
import { stackReview, writeReview } from "../review/review";
import { readHistory } from "../run/run-file";
import { fleetTable } from "../run/table";

/** What the previews of stacks found, and their plans in a folder. */
export type PreviewStacks = (plans: string) => Promise<{
  end: "done" | "failed" | "interrupted";
  found: ReadonlyMap<string, StackReview>;
}>;

/** Previews all stacks, as many at once as the fleet allows, and prints their table. */
export async function previewAll(
  project: Project,
  fleet: Fleet,
  plans: string,
  say: (line: string) => void,
  previewStacks: PreviewStacks,
): Promise<"done" | "failed" | "interrupted"> {
  const stacks = stacksOf(fleet);
  say(`previewing ${plural(stacks.length, "stack")}, ${fleet.maxParallel} at once`);
  await beginPlans(plans, stacks);
  const { end, found } = await previewStacks(plans);
  for (const [name, stack] of found) {
    const details = detailsOf(stack);
    if (details.length > 0) say([`${name}:`, ...details].join("\n    "));
  }
  for (const line of fleetTable(fleet, "PREVIEW", (name) => wordsOf(found.get(name)))) say(line);
  await writeReview(plans, {
    project: project.name,
    previewedAt: new Date().toISOString(),
    fleet: writable(fleet),
    stacks: inOrder(stacks, found, await readHistory(project)),
  });
  return end;
}

/** Makes the folder for plans. The plan of an earlier preview goes: it is not what this one finds. */
export async function beginPlans(plans: string, stacks: readonly string[]): Promise<void> {
  await mkdir(plans, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw new Error(`can't create ${plans}: ${fileFault(error) ?? String(error)}; name another folder`);
  });
  for (const stack of stacks) await rm(planFile(plans, stack), { force: true });
}

/** Previews the stacks on this machine. */
export const previewHere =
  (project: Project, fleet: Fleet): PreviewStacks =>
  async (plans) => {
    const found = new Map<string, StackReview>();
    // each engine that runs listens for interrupts
    setMaxListeners(fleet.maxParallel + getMaxListeners(process), process);
    const end = await forEachStack(fleet, async (stack) => {
      const review = await previewStack(project, stack, {
        planFile: planFile(plans, stack),
        ...policyOf(project, fleet, stack),
      });
      found.set(stack, review);
      return !hasFailed(review);
    });
    return { end, found };
  };

/** Previews one stack in this process: a process for each would take an eighth more processor time. */
async function previewStack(
  project: Project,
  stack: string,
  { planFile, ...policy }: { planFile: string } & PolicyOptions,
): Promise<StackReview> {
  try {
    const { json, plan } = await previewForFleet(project, stack, planFile, policy);
    return stackReview(json, plan);
  } catch (error) {
    return failedReview(displayText(messageOf(error)).split("\n"));
  }
}

/** Returns the arguments of a preview that writes a stack's plan and its result. */
export const previewArguments = (
  stack: string,
  plan: string,
  json: string,
  policy: PolicyOptions,
): string[] => [
  ...["preview", "--stack", stack, "--save-plan", plan, "--json", json, ...policyArguments(policy)],
];

/**
 * Returns what a preview found, by the files that it left.
 *
 * @param log the last lines of a preview that failed without a result
 */
export function reviewOfFiles(
  json: string | undefined,
  plan: string | undefined,
  log: readonly string[],
): StackReview {
  try {
    if (json !== undefined) return stackReview(json, plan);
  } catch (error) {
    if (!(error instanceof NotAPreviewError)) throw error;
  }
  return failedReview(log);
}

/** Returns the reviews in the order of the waves, with how long each takes by earlier runs. */
const inOrder = (stacks: readonly string[], found: ReadonlyMap<string, StackReview>, history: History) =>
  Object.fromEntries(
    stacks.flatMap((name) => {
      const stack = found.get(name);
      if (stack === undefined) return [];
      const seconds = estimateSeconds(history, name, stepsIn(stack));
      return [[name, { ...stack, ...(seconds !== undefined && { seconds }) }]];
    }),
  );

function wordsOf(stack: StackReview | undefined): string {
  if (stack === undefined || hasFailed(stack) || stack.dangers.length === 0) return changeWords(stack);
  return `${changeWords(stack)}; review first: ${stack.dangers.length}`;
}

function detailsOf(stack: StackReview): string[] {
  if (hasFailed(stack)) return stack.errors.flatMap((error) => error.split("\n"));
  const dangers = stack.dangers.map(({ kind, words }) => `! ${kind}: ${words}`);
  return [...stack.changes.flatMap(({ steps }) => steps), ...dangers];
}
