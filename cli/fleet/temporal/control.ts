import { messageOf } from "../../../lib/error-message";
import { CommandError, EXIT } from "../../exit-codes";
import { findProject } from "../../pulumi";
import { print } from "../../terminal";
import { loadFleetOfFiles, waveNamed } from "../load";
import { fleetId } from "../plan/temporal";
import { connectClient } from "./connection";
import { SIGNALS } from "./messages";
import { serverOf } from "./server";

interface ControlOptions {
  readonly file?: string;
}

/** Approves the gate of a wave of the open run. @returns the exit code */
export const fleetApprove = (
  { file, wave }: ControlOptions & { wave: string },
  say = print,
): Promise<number> =>
  signalRun(
    { ...(file && { file }), signal: SIGNALS.approve, wave, done: `approved the gate of ${wave}` },
    say,
  );

/** Lets no further stack of the open run begin. @returns the exit code */
export const fleetPause = ({ file }: ControlOptions, say = print): Promise<number> =>
  signalRun(
    {
      ...(file && { file }),
      signal: SIGNALS.pause,
      done: "paused: no further stack begins; those that run end",
    },
    say,
  );

/** Lets stacks of the open run begin again. @returns the exit code */
export const fleetResume = ({ file }: ControlOptions, say = print): Promise<number> =>
  signalRun({ ...(file && { file }), signal: SIGNALS.resume, done: "resumed" }, say);

async function signalRun(
  { file, signal, wave, done }: ControlOptions & { signal: string; wave?: string; done: string },
  say: (line: string) => void,
): Promise<number> {
  const project = await findProject();
  const fleet = await loadFleetOfFiles(project, file);
  if (wave !== undefined) waveNamed(fleet, wave, file);
  const client = await connectClient(serverOf(fleet));
  const { WorkflowNotFoundError } = await import("@temporalio/client");
  try {
    await client.workflow
      .getHandle(fleetId(project.name, fleet))
      .signal(signal, ...(wave === undefined ? [] : [wave]))
      .catch((error: unknown) => {
        const why =
          error instanceof WorkflowNotFoundError
            ? "no run of this fleet is open in Temporal"
            : `the Temporal server does not answer: ${messageOf(error)}`;
        throw new CommandError("failed", why);
      });
    say(done);
    return EXIT.done;
  } finally {
    await client.connection.close();
  }
}
