import path from "node:path";
import { PARALLEL_ARGUMENTS } from "../lib/pulumi/parallel-operations";
import { BehindFailure } from "./review/cascading-errors";
import { onInterrupts } from "./interrupts";
import { requestPause, withdrawPause } from "./pause";
import { withPrivateFolder, writePrivately } from "./private-file";
import type { Project } from "./project";
import { startPulumi } from "./pulumi";

/** A run of the engine that is constrained by a plan. */
interface PlannedRun {
  readonly project: Project;
  readonly stack: string;
  /** The engine's own plan. */
  readonly engine: unknown;
  /** The kubeconfig of the cluster in which to request a pause; undefined when a pause is not possible. */
  readonly kubeconfig?: string;
}

/** The outcome of a run. */
export type RunEnd = "done" | "failed" | "interrupted" | "paused" | "moved meanwhile";

/**
 * Runs `pulumi up` with a plan and shows its output. The first Ctrl-C asks the cluster's rollout to pause before its
 * next node. The next one, or the first when no pause is possible, makes the engine finish its current operations; one
 * more stops it at once.
 */
export async function runPlan(run: PlannedRun, say: (line: string) => void): Promise<RunEnd> {
  return withPrivateFolder(async (folder) => {
    const file = path.join(folder, "plan.json");
    await writePrivately(file, JSON.stringify(run.engine));
    const args = [
      "up",
      "--plan",
      file,
      "--yes",
      "--skip-preview",
      "--suppress-progress",
      ...PARALLEL_ARGUMENTS,
      "--stack",
      run.stack,
    ];
    // outputs contain whole objects, and `pulumi stack output` prints them on request
    const behind = new BehindFailure();
    const { child, ended } = startPulumi({
      project: run.project,
      args: [...args, "--suppress-outputs"],
      passThrough: true,
      filter: behind,
    });
    const pausing = { asked: false };
    let count = 0;
    const forget = onInterrupts((signal) => {
      count += 1;
      if (count > 1 || signal !== "SIGINT") child.kill("SIGINT");
      else void pause(run.kubeconfig, pausing, () => child.kill("SIGINT"), say);
    });
    try {
      const { exitCode, stdout, stderr } = await ended;
      const words = stdout + stderr;
      if (behind.summary !== undefined) say(behind.summary);
      if (/\bRolloutPaused\b/.test(words)) return "paused";
      if (exitCode === 0) return "done";
      if (count > 0) return "interrupted";
      return /\bviolates plan\b/.test(words) ? "moved meanwhile" : "failed";
    } finally {
      forget();
      if (pausing.asked && run.kubeconfig !== undefined) await withdrawPause(run.kubeconfig);
    }
  });
}

async function pause(
  kubeconfig: string | undefined,
  pausing: { asked: boolean },
  interrupt: () => void,
  say: (line: string) => void,
): Promise<void> {
  say("interrupted: asking for a pause …");
  const answer = await requestPause(kubeconfig);
  if (answer.asked) {
    pausing.asked = true;
    say("asked for a pause: the current node is finished first. Ctrl-C again interrupts the engine.");
    return;
  }
  say(`no pause, since ${answer.because}; the engine ends what it has begun. Ctrl-C again stops it at once.`);
  interrupt();
}
