import { waitUnless } from "../../lib/abort";
import { EXIT } from "../exit-codes";
import { findProject, type Project } from "../pulumi";
import { onInterrupts, print } from "../terminal";
import { checkGate } from "./gates";
import { loadFleetOfFiles, waveNamed } from "./load";
import type { Fleet, Wave } from "./plan/fleet";
import { windowsOf } from "./windows";

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

/** Waits for the window of a wave, or ends when it is closed, as the window says. @returns the exit code */
export const fleetWindow = (options: WaveOptions, say = print): Promise<number> =>
  withWave(options, async ({ name }, { fleet, signal }) => {
    const again = `foresail fleet window --wave ${name}`;
    const windows = windowsOf(fleet, { again, say, wait: waitUnless(signal) });
    if (!windows.closed().has(name) || (await windows.opening(name))) return EXIT.done;
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
