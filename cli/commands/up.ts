import { compareReview, type Verdict } from "../review/compare";
import { isMachinePlan, remainingRuns, unlistedChange } from "../review/server-order";
import { changesOutputs, parseSavedPlan, type SavedPlan, withOutputsOf } from "../review/saved-plan";
import { sideBySide, renderText } from "../review/text";
import { EXIT } from "../terminal/exit-codes";
import { FetchedKubeconfig } from "../../lib/kubernetes";
import { readGivenFile } from "../../lib/files";
import { clearKilledRuns } from "../engine/killed-runs";
import { findProject, type Project, callPulumi, findStack } from "../engine/pulumi";
import { runRemaining, runReviewed } from "../engine/run-plan";
import { takePreview } from "./preview";
import { policyCall, type PolicyOptions } from "../engine/policy-call";
import { askPerson, print, printError } from "../terminal/terminal";

export interface UpOptions extends PolicyOptions {
  readonly stack?: string;
  /** A plan of `foresail preview --save-plan`. */
  readonly plan?: string;
  /** Whether the command line confirms the run. */
  readonly yes: boolean;
}

const MAKE_PLAN = "give the file that `foresail preview --save-plan` wrote";

/**
 * Runs exactly what was reviewed: the saved plan when it still matches, a fresh plan of the remaining steps after a run
 * that was killed, and nothing when the cluster has changed.
 *
 * @returns the exit code
 */
export async function up(options: UpOptions, say = print): Promise<number> {
  const project = await findProject();
  const policies = await policyCall(options);
  const stack = await findStack(project, options.stack);
  const ref = { project: project.name, stack };
  const saved =
    options.plan === undefined
      ? undefined
      : parseSavedPlan(await readGivenFile(options.plan, "the plan", MAKE_PLAN), ref);
  for (const line of await clearKilledRuns(project, stack, "operations")) say(line);
  say(saved === undefined ? `previewing ${stack}` : `comparing ${stack} with the reviewed plan`);
  const [taken, kubeconfig] = await Promise.all([
    takePreview(project, stack, policies),
    readKubeconfig(project, stack),
  ]);
  if (taken.plan === undefined) {
    for (const words of taken.preview.errors) printError(`error: ${words}`);
    // the reviewed plan had no error, so the cluster or the configuration has changed since
    if (saved !== undefined && taken.preview.isRefused) {
      say("refused: what was reviewed can't run now. Nothing was touched.");
      const again = `review again (foresail preview --save-plan ${options.plan})`;
      say(`next: fix the errors above and run the same command, or ${again}`);
      return EXIT.changed;
    }
    say("nothing was changed");
    return EXIT.failed;
  }
  const chosen =
    saved === undefined
      ? await consent(taken.plan, options, renderText(taken.preview), say)
      : choose(saved, taken.plan, options, say);
  if (typeof chosen === "number") return chosen;
  const run = { project, stack, policies, ...(kubeconfig && { kubeconfig }) };
  const reviewed = (saved ?? chosen).reviewed;
  const end = await runReviewed(run, reviewed, chosen.engine, say);
  return reportOutcome(end === "done" ? await runRemaining(run, chosen, say) : end, options, say);
}

/** Shows what would run and asks for confirmation, unless `--yes` gives it. */
async function consent(
  plan: SavedPlan,
  options: UpOptions,
  review: readonly string[],
  say: (line: string) => void,
): Promise<SavedPlan | number> {
  for (const line of review) say(line);
  if (options.yes) return plan;
  const answer = await askPerson("Do this? [y/N] ");
  if (answer === true) return plan;
  const fix = answer === undefined ? ": without a terminal, give --plan or --yes" : "";
  say(`nothing was changed${fix}`);
  return answer === undefined ? EXIT.usage : EXIT.declined;
}

/** Returns the plan to run, or the exit code when none may run. */
function choose(
  saved: SavedPlan,
  current: SavedPlan,
  options: UpOptions,
  say: (line: string) => void,
): SavedPlan | number {
  const verdict: Verdict = compareReview(saved.reviewed, current.reviewed);
  switch (verdict.kind) {
    case "same":
      say("this is what was reviewed, step by step");
      return withOutputsOf(saved, current);
    case "remainder":
      say("a part of what was reviewed is done; this is left of it:");
      for (const { steps, operation, name } of current.reviewed)
        for (const step of steps.length > 0 ? steps : [operation]) say(`  ${name}: ${step}`);
      return current;
    case "nothing left":
      if (changesOutputs(current)) {
        say("everything that was reviewed is done; this updates the stack's outputs");
        return current;
      }
      say("everything that was reviewed is done; nothing is left to do");
      return EXIT.done;
    case "moved":
      if (isRemainingRun(saved, current)) {
        say("the first machines of what was reviewed are done; this is the next run:");
        for (const { steps } of current.reviewed.filter(isMachinePlan))
          for (const step of steps) say(`  ${step}`);
        return current;
      }
      for (const line of sideBySide(verdict.differences, process.stdout.columns)) say(line);
      say("refused: what would run now is not what was reviewed. Nothing was touched.");
      say(`next: review it again (foresail preview --save-plan ${options.plan}), then run the same command`);
      return EXIT.changed;
  }
}

/** Returns whether the current plan is one of the remaining runs that the reviewed plan listed. */
function isRemainingRun(saved: SavedPlan, current: SavedPlan): boolean {
  return (
    remainingRuns(saved.reviewed).length > 0 && unlistedChange(saved.reviewed, current.reviewed) === undefined
  );
}

function reportOutcome(
  end: Awaited<ReturnType<typeof runRemaining>>,
  options: UpOptions,
  say: (line: string) => void,
): number {
  const again = options.plan === undefined ? "foresail up" : `foresail up --plan ${options.plan}`;
  const words = {
    done: "",
    paused: `paused before the next node; to continue: ${again}`,
    "moved meanwhile":
      "the cluster changed while this ran; nothing that was not reviewed was done. Preview and review again",
    refused: "what ran is done; review what is left of it: foresail preview, then foresail up",
    interrupted: `interrupted; to continue: ${again}`,
    locked: "",
    failed: `fix the cause, then continue with: ${again}`,
  }[end];
  if (words !== "") say(words);
  if (end === "refused") return EXIT.changed;
  return end === "moved meanwhile" ? EXIT.failed : EXIT[end];
}

/** Returns the administrator's kubeconfig, kept in memory only; undefined before the first `up`. */
async function readKubeconfig(project: Project, stack: string): Promise<FetchedKubeconfig | undefined> {
  try {
    const args = ["stack", "output", "kubeconfig", "--show-secrets", "--stack", stack];
    // it comes from machines and clusters, which must not run a program here
    return new FetchedKubeconfig(
      `output kubeconfig of ${stack}`,
      (await callPulumi({ project, args })).stdout,
    );
  } catch {
    return undefined;
  }
}
