import { waitUnless } from "../../../lib/abort";
import { cutList, quoted } from "../../../lib/text/quote";
import { EXIT, UsageError } from "../../terminal/exit-codes";
import { findProject, type Project } from "../../engine/pulumi";
import { onInterrupts, print } from "../../terminal/terminal";
import { checkGate } from "../run/gates";
import { loadFleetOfFiles, waveNamed } from "../files/load";
import type { Fleet, Wave } from "../plan/fleet";
import { windowsOf } from "../run/windows";

export interface WaveOptions {
  readonly file?: string;
  readonly wave: string;
}

/** Checks the gate of a wave without its approval, for a pipeline that asks a person itself. @returns the exit code */
export const fleetGate = (options: WaveOptions, say = print): Promise<number> =>
  withWave(options, async (wave, { project, signal }) => {
    const gate = wave.gate && { ...wave.gate, approval: false };
    const keep = () => Promise.resolve();
    const end = await checkGate({ ...wave, gate }, { project, approved: [], passed: [], keep, signal, say });
    return end === "passed" ? EXIT.done : end === "failed" ? EXIT.failed : EXIT.interrupted;
  });

export interface WindowOptions extends WaveOptions {
  /** The stack of the wave; needed when one of its stacks has a window of its own. */
  readonly stack?: string;
}

/** Waits for the window of a wave or stack, or ends when it is closed, as the window says. @returns the exit code */
export const fleetWindow = (options: WindowOptions, say = print): Promise<number> =>
  withWave(options, async (wave, { fleet, signal }) => {
    const { name, stacks, windows: own = {} } = wave;
    const stack = options.stack ?? stacks[0] ?? "";
    if (options.stack === undefined && Object.keys(own).length > 0)
      throw new UsageError(
        `stacks of the wave ${name} have windows of their own (${cutList(Object.keys(own), ", ")}); name the stack with --stack`,
      );
    if (!stacks.includes(stack))
      throw new UsageError(
        `--stack ${quoted(stack)} is not in the wave ${name}; it has ${cutList(stacks, ", ")}`,
      );
    const which = options.stack === undefined ? "" : ` --stack ${stack}`;
    const again = `foresail fleet window --wave ${name}${which}`;
    const windows = windowsOf(fleet, { again, say, wait: waitUnless(signal) });
    if (!windows.closed().has(stack) || (await windows.opening([stack]))) return EXIT.done;
    return signal.aborted ? EXIT.interrupted : EXIT.paused;
  });

interface WaveContext {
  readonly project: Project;
  readonly fleet: Fleet;
  readonly signal: AbortSignal;
}

async function withWave(
  { file, wave: name }: WaveOptions,
  work: (wave: Wave, context: WaveContext) => Promise<number>,
): Promise<number> {
  const project = await findProject();
  const fleet = await loadFleetOfFiles(project, file);
  const wave = waveNamed(fleet, name, file);
  const stop = new AbortController();
  const forget = onInterrupts(() => stop.abort());
  try {
    return await work(wave, { project, fleet, signal: stop.signal });
  } finally {
    forget();
  }
}
