import path from "node:path";
import { writePrivately } from "../../private-file";
import { forEachStack } from "../each-stack";
import { readRegions } from "../labels";
import { planFile } from "../load";
import { failedReview, type StackReview } from "../plan/review";
import type { Regions } from "../plan/temporal";
import type { PreviewStacks } from "../preview";
import type { FleetRunner, RunnerContext } from "../runner";
import { PREVIEW_WORKFLOW, type PreviewInput, type PreviewOutcome } from "./messages";
import { unpack } from "./packed";
import { findRun, refuseWithoutWorkers, runOnServer, type ServerRun } from "./run";

/** The runner on a Temporal server, whose workers are in the regions. @throws CommandError */
export async function serverRunner({
  project,
  fleet,
  file,
  approved,
  say,
}: RunnerContext): Promise<FleetRunner> {
  const regions = readRegions(project, fleet, file);
  const at = await findRun(project, fleet);
  if (!at.isOpen) await refuseWithoutWorkers(at, regions);
  return {
    ...{ last: at.last, isOpen: at.isOpen },
    preview: (plans) => previewInRegions(at, { fleet, regions }, plans),
    close: () => at.client.connection.close(),
    run: (run, watch) => runOnServer(at, { project, fleet, regions, run, approved, say, ...watch }),
  };
}

/** Previews each stack by a worker of its region; an interrupt ends the previews. */
async function previewInRegions(
  { client, id }: ServerRun,
  { fleet, regions }: Pick<RunnerContext, "fleet"> & { regions: Regions },
  plans: string,
): ReturnType<PreviewStacks> {
  const { WorkflowIdConflictPolicy } = await import("@temporalio/client");
  const found = new Map<string, StackReview>();
  const running = new Set<{ cancel(): Promise<unknown> }>();
  const end = await forEachStack(
    fleet,
    async (stack) => {
      const input: PreviewInput = { id, stack, region: regions[stack] ?? "" };
      const handle = await client.workflow.start(PREVIEW_WORKFLOW, {
        ...{ workflowId: `${id}/preview/${stack}`, taskQueue: id, args: [input] },
        // one that was left by a command that was killed
        workflowIdConflictPolicy: WorkflowIdConflictPolicy.TERMINATE_EXISTING,
      });
      running.add(handle);
      try {
        const { review, plan } = (await handle.result()) as PreviewOutcome;
        found.set(stack, review);
        if (plan === undefined) return false;
        await writePrivately(path.resolve(planFile(plans, stack)), unpack(plan));
        return true;
      } catch (error) {
        found.set(stack, failedReview([String(error)]));
        return false;
      } finally {
        running.delete(handle);
      }
    },
    () => running.forEach((handle) => void handle.cancel().catch(() => undefined)),
  );
  return { end, found };
}
