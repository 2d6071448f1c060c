import { mkdir, rm } from "node:fs/promises";
import path from "node:path";
import { fileFault } from "../../lib/files";
import { NotAPreviewError } from "../review/preview";
import { plural } from "../../lib/text/plural";
import { EXIT } from "../exit-codes";
import { withPrivateFolder } from "../private-file";
import { findProject, type Project } from "../pulumi";
import { print } from "../terminal";
import { readEachStack } from "./each-stack";
import { loadFleet, planFile, readIfThere } from "./load";
import { type Fleet, stacksOf } from "./plan/fleet";
import { changeWords, failedReview, hasFailed, type StackReview, stepsIn, writable } from "./plan/review";
import { estimateSeconds, type History } from "./plan/timeline";
import { stackReview, writeReview } from "./review";
import { readHistory } from "./run-file";
import { lastLines } from "./stack-process";
import { fleetTable } from "./table";

export interface FleetPreviewOptions {
  readonly file?: string;
  /** The folder for the plans of `foresail fleet up --plan`. */
  readonly savePlan?: string;
}

/** Previews all stacks of a fleet; changes nothing. @returns the exit code: failed when the preview of a stack failed */
export async function fleetPreview({ file, savePlan }: FleetPreviewOptions, say = print): Promise<number> {
  const project = await findProject();
  const fleet = await loadFleet(project, file);
  if (savePlan === undefined)
    return withPrivateFolder(async (folder) => EXIT[await previewAll(project, fleet, folder, say)]);
  const end = await previewAll(project, fleet, savePlan, say);
  if (end === "done")
    say(`the plans are in ${savePlan}; to do exactly this: foresail fleet up --plan ${savePlan}`);
  return EXIT[end];
}

/** Previews all stacks, as many at once as the fleet allows, and prints their table. */
export async function previewAll(
  project: Project,
  fleet: Fleet,
  plans: string,
  say: (line: string) => void,
): Promise<"done" | "failed" | "interrupted"> {
  await mkdir(plans, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw new Error(`can't create ${plans}: ${fileFault(error) ?? String(error)}; name another folder`);
  });
  const stacks = stacksOf(fleet);
  say(`previewing ${plural(stacks.length, "stack")}, ${fleet.maxParallel} at once`);
  // the plan of an earlier preview is not what this one finds
  for (const stack of stacks) await rm(planFile(plans, stack), { force: true });
  const { end, found } = await readEachStack(project, fleet, {
    argumentsOf: (stack, json) => [
      ...["preview", "--stack", stack, "--save-plan", path.resolve(planFile(plans, stack))],
      ...["--json", json],
    ],
    read: async (exitCode, { output, log }, stack) => {
      const plan = exitCode === 0 ? await readIfThere(planFile(plans, stack)) : undefined;
      return reviewOf(await readIfThere(output), plan, await lastLines(log));
    },
  });
  for (const [name, stack] of found) {
    const details = detailsOf(stack);
    if (details.length > 0) say([`${name}:`, ...details].join("\n    "));
  }
  for (const line of fleetTable(fleet, "PREVIEW", (name) => wordsOf(found.get(name)))) say(line);
  await writeReview(plans, {
    ...{ project: project.name, previewedAt: new Date().toISOString(), fleet: writable(fleet) },
    stacks: inOrder(stacks, found, await readHistory(project)),
  });
  return end;
}

/** @param log the last lines of a preview that failed without a result */
function reviewOf(json: string | undefined, plan: string | undefined, log: readonly string[]): StackReview {
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
