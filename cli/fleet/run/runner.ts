import type { Project } from "../../engine/pulumi";
import { checkGate } from "./gates";
import { planFile } from "../files/load";
import type { Fleet } from "../plan/fleet";
import type { Progress } from "../plan/waves";
import { previewHere, type PreviewStacks } from "../commands/preview";
import { readRun, type RunRecord } from "./run-file";
import { refuseWhileRunning, runStacks } from "./run-stacks";

/** Takes how far a run is while it runs. */
interface RunWatch {
  readonly watch: (progress: Progress) => void;
  readonly took: (stack: string, seconds: number) => void;
}

/** What carries out the waves: processes on this machine, or a Temporal server with workers in the regions. */
export interface FleetRunner {
  /** The last run, whose rest `--continue` does. */
  readonly last: RunRecord | undefined;
  /** Whether the last run still works without this command, so that it is joined and not begun again. */
  readonly isOpen: boolean;
  readonly preview: PreviewStacks;
  /** Runs the waves from where a run is. @returns the exit code */
  readonly run: (run: RunRecord, watch: RunWatch) => Promise<number>;
  readonly close: () => Promise<void>;
}

export interface RunnerContext {
  readonly project: Project;
  readonly fleet: Fleet;
  /** The fleet's file, as the command line gives it. */
  readonly file?: string | undefined;
  /** Waves that the command line approves. */
  readonly approved: readonly string[];
  readonly say: (line: string) => void;
}

/** The runner on this machine. @throws CommandError while a stack of a run that was killed still works */
export async function localRunner({ project, fleet, approved, say }: RunnerContext): Promise<FleetRunner> {
  const last = await readRun(project);
  refuseWhileRunning(last);
  return {
    last,
    isOpen: false,
    preview: previewHere(project, fleet),
    close: () => Promise.resolve(),
    run: (run, watch) =>
      runStacks({
        project,
        fleet,
        run,
        again: "foresail fleet up --continue",
        say,
        ...watch,
        argumentsOf: (stack) => ["up", "--stack", stack, "--plan", planFile(run.plans, stack)],
        gate: async (name, of) => {
          const wave = fleet.waves.find((one) => one.name === name);
          return wave === undefined ? "passed" : checkGate(wave, { ...of, project, approved, say });
        },
      }),
  };
}
