import { redact } from "../lib/text/redaction";
import { isMachinePlan, remainingRuns, unlistedChange } from "./review/server-order";
import type { SavedPlan } from "./review/saved-plan";
import type { Project } from "./project";
import { runPlan, type RunEnd } from "./run-plan";
import { takePreview } from "./take-preview";

/**
 * Repeats the run while machines remain, each run with a part of what the first one listed. Refuses a run that would do
 * anything else.
 *
 * @param first the plan that ran successfully
 */
export async function runRemaining(
  run: { project: Project; stack: string; kubeconfig?: string },
  first: Pick<SavedPlan, "reviewed">,
  say: (line: string) => void,
): Promise<RunEnd | "refused"> {
  for (let reviewed = first.reviewed; remainingRuns(reviewed).length > 0;) {
    say(`machines are left to do: previewing ${run.stack} again`);
    const { plan, preview } = await takePreview(run.project, run.stack);
    if (plan === undefined) {
      for (const words of preview.errors) console.error(redact(`error: ${words}`));
      return "failed";
    }
    const strange = unlistedChange(reviewed, preview.changes);
    if (strange !== undefined) {
      say(`refused: this was not listed before: ${strange}`);
      return "refused";
    }
    for (const { steps } of preview.changes.filter(isMachinePlan)) for (const line of steps) say(`  ${line}`);
    const end = await runPlan({ ...run, engine: plan.engine }, say);
    if (end !== "done") return end;
    // resources of the first review may change again; of remaining runs, only what is still listed may run
    const named = reviewed.filter((change) => !isMachinePlan(change));
    reviewed = [...named, ...preview.changes.filter(isMachinePlan)];
  }
  return "done";
}
