import type { WorkflowHandle } from "@temporalio/client";
import { messageOf } from "../../../lib/error-message";
import { CommandError, EXIT } from "../../terminal/exit-codes";
import { findProject } from "../../engine/pulumi";
import { print } from "../../terminal/terminal";
import { loadFleetOfFiles, waveNamed } from "../files/load";
import { fleetId } from "../plan/temporal";
import { connectClient } from "./connection";
import { SIGNALS } from "./messages";
import { approve, stateOf } from "./run";
import { FleetSeals } from "./seals";
import { serverOf } from "./server";

interface ControlOptions {
  readonly file?: string;
}

/** Approves the gate of a wave of the open run. @returns the exit code */
export const fleetApprove = (
  { file, wave }: ControlOptions & { wave: string },
  say = print,
): Promise<number> =>
  withRun({ ...(file && { file }), wave }, async (handle, id) => {
    const seals = FleetSeals.take(id);
    const { startedAt, review, seal } = await stateOf(handle, 0);
    // who may write to the namespace could show another run than the one that is approved
    const issue = seals.runIssue({ startedAt, review, seal });
    if (issue !== undefined)
      throw new CommandError(
        "failed",
        `${issue}; nothing was approved\nLook who began it: temporal workflow show --workflow-id ${id}`,
      );
    await approve(handle, seals, { startedAt, review }, wave);
    say(`approved the gate of ${wave} in the run of ${startedAt}`);
  });

/** Lets no further stack of the open run begin. @returns the exit code */
export const fleetPause = ({ file }: ControlOptions, say = print): Promise<number> =>
  withRun({ ...(file && { file }) }, async (handle) => {
    await handle.signal(SIGNALS.pause);
    say("paused: no further stack begins; those that run end");
  });

/** Lets stacks of the open run begin again. @returns the exit code */
export const fleetResume = ({ file }: ControlOptions, say = print): Promise<number> =>
  withRun({ ...(file && { file }) }, async (handle) => {
    await handle.signal(SIGNALS.resume);
    say("resumed");
  });

/** Does something about the open run of a fleet. @throws CommandError when there is none */
async function withRun(
  { file, wave }: ControlOptions & { wave?: string },
  work: (handle: WorkflowHandle, id: string) => Promise<void>,
): Promise<number> {
  const project = await findProject();
  const fleet = await loadFleetOfFiles(project, file);
  if (wave !== undefined) waveNamed(fleet, wave, file);
  const client = await connectClient(serverOf(fleet));
  const { WorkflowNotFoundError } = await import("@temporalio/client");
  const id = fleetId(project.name, fleet);
  try {
    await work(client.workflow.getHandle(id), id).catch((error: unknown) => {
      if (error instanceof CommandError) throw error;
      const why =
        error instanceof WorkflowNotFoundError
          ? "no run of this fleet is open in Temporal"
          : `the Temporal server does not answer: ${messageOf(error)}`;
      throw new CommandError("failed", why);
    });
    return EXIT.done;
  } finally {
    await client.connection.close();
  }
}
