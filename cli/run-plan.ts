import path from "node:path";
import { PARALLEL_ARGUMENTS } from "../lib/pulumi/parallel-operations";
import { BehindFailure } from "./review/cascading-errors";
import { onInterrupts } from "./terminal";
import { withPrivateFolder, writePrivately } from "./private-file";
import { type Project, startPulumi } from "./pulumi";
import { hostname, userInfo } from "node:os";
import { CLUSTER_LEASE, KubernetesClient, type KubernetesObject, PAUSE_REQUESTED } from "../lib/kubernetes";
import { redact } from "../lib/text/redaction";
import { isMachinePlan, remainingRuns, unlistedChange } from "./review/server-order";
import type { SavedPlan } from "./review/saved-plan";
import { takePreview } from "./preview";

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
type RunEnd = "done" | "failed" | "interrupted" | "paused" | "moved meanwhile";

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

/** The user waits for this after Ctrl-C. */
const SECONDS = 8;

/** The result of a pause request. */
type PauseAnswer = { readonly asked: true } | { readonly asked: false; readonly because: string };

/**
 * Asks the running process to stop before its next node. Never throws: the result contains the reason of a failure.
 *
 * @param kubeconfig the stack's output, or undefined when it has none yet
 */
async function requestPause(kubeconfig: string | undefined): Promise<PauseAnswer> {
  if (kubeconfig === undefined) return { asked: false, because: "the stack has no kubeconfig yet" };
  const at = new Date().toISOString();
  return onLease<PauseAnswer>(kubeconfig, async (client) => {
    const lease = await client.get<KubernetesObject & { spec?: { holderIdentity?: string } }>(CLUSTER_LEASE);
    if (!lease?.spec?.holderIdentity) return { asked: false, because: "no run is changing the cluster now" };
    await annotate(client, `${at} ${userInfo().username}@${hostname()}`);
    return { asked: true };
  }).catch((error: unknown): PauseAnswer => ({
    asked: false,
    because: `the cluster can't be asked: ${error instanceof Error ? error.message : String(error)}`,
  }));
}

/**
 * Withdraws the pause request, so that it does not stop the next run. If this fails, the next run removes the request
 * as outdated.
 */
async function withdrawPause(kubeconfig: string): Promise<void> {
  await onLease(kubeconfig, (client) => annotate(client, null)).catch(() => undefined);
}

async function annotate(client: KubernetesClient, value: string | null): Promise<void> {
  await client.mergePatch(CLUSTER_LEASE, { metadata: { annotations: { [PAUSE_REQUESTED]: value } } });
}

async function onLease<T>(kubeconfig: string, work: (client: KubernetesClient) => Promise<T>): Promise<T> {
  const client = await KubernetesClient.connect({ kubeconfig }, { seconds: SECONDS, callSeconds: SECONDS });
  try {
    return await work(client);
  } finally {
    client.close();
  }
}

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
