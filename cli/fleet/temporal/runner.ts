import { randomUUID } from "node:crypto";
import path from "node:path";
import { messageOf } from "../../../lib/error-message";
import { writePrivately } from "../../engine/private-file";
import { forEachStack } from "../run/each-stack";
import { readRegions } from "../files/labels";
import { planFile } from "../files/load";
import { failedReview, type StackReview } from "../plan/review";
import { fleetId, type Regions } from "../plan/temporal";
import type { PreviewStacks } from "../commands/preview";
import type { FleetRunner, RunnerContext } from "../run/runner";
import { PREVIEW_WORKFLOW, type PreviewInput, type PreviewOutcome } from "./messages";
import { unpack } from "./packed";
import { FleetSeals } from "./seals";
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
  const seals = FleetSeals.take(fleetId(project.name, fleet));
  const at = await findRun(project, fleet, seals);
  if (!at.isOpen) await refuseWithoutWorkers(at, regions);
  return {
    last: at.last,
    isOpen: at.isOpen,
    preview: (plans) => previewInRegions(at, { fleet, regions, seals }, plans),
    close: () => at.client.connection.close(),
    run: (run, watch) => runOnServer(at, { project, seals, fleet, regions, run, approved, say, ...watch }),
  };
}

/** Previews each stack by a worker of its region; an interrupt ends the previews. */
async function previewInRegions(
  { client, id }: ServerRun,
  { fleet, regions, seals }: Pick<RunnerContext, "fleet"> & { regions: Regions; seals: FleetSeals },
  plans: string,
): ReturnType<PreviewStacks> {
  const { WorkflowIdConflictPolicy } = await import("@temporalio/client");
  const found = new Map<string, StackReview>();
  const running = new Set<{ cancel(): Promise<unknown> }>();
  const end = await forEachStack(
    fleet,
    async (stack) => {
      const nonce = randomUUID();
      const input: PreviewInput = { id, stack, nonce, region: regions[stack] ?? "" };
      const handle = await client.workflow.start(PREVIEW_WORKFLOW, {
        workflowId: `${id}/preview/${stack}`,
        taskQueue: id,
        args: [input],
        // one that was left by a command that was killed
        workflowIdConflictPolicy: WorkflowIdConflictPolicy.TERMINATE_EXISTING,
      });
      running.add(handle);
      try {
        const outcome = (await handle.result()) as PreviewOutcome;
        if (!seals.isPreview(nonce, stack, outcome))
          throw new Error(
            "its preview was not made by a worker with the key of this fleet; give the command and all workers the same FORESAIL_FLEET_KEY, or look who may write to the Temporal namespace",
          );
        const { review, plan } = outcome;
        found.set(stack, review);
        if (plan === undefined) return false;
        await writePrivately(path.resolve(planFile(plans, stack)), unpack(plan));
        return true;
      } catch (error) {
        found.set(stack, failedReview([messageOf(error)]));
        return false;
      } finally {
        running.delete(handle);
      }
    },
    () => running.forEach((handle) => void handle.cancel().catch(() => undefined)),
  );
  return { end, found };
}
