import { readFile } from "node:fs/promises";
import path from "node:path";
import { FAILURE_CODES } from "../../lib/pulumi/failure";
import { PARALLEL_ARGUMENTS, type Project, startPulumi } from "./pulumi";
import { BehindFailure } from "../review/cascading-errors";
import { onInterrupts, printError } from "../terminal/terminal";
import { withPrivateFolder, writePrivately } from "./private-file";
import { hostname, userInfo } from "node:os";
import {
  CLUSTER_LEASE,
  type FetchedKubeconfig,
  KubernetesClient,
  type KubernetesObject,
  PAUSE_REQUESTED,
} from "../../lib/kubernetes";
import { isMachinePlan, remainingRuns, unlistedChange } from "../review/server-order";
import { compareReview } from "../review/compare";
import { changesOutputs, type SavedPlan } from "../review/saved-plan";
import { takePreview } from "../commands/preview";
import type { PolicyCall } from "./policy-call";
import { messageOf } from "../../lib/error-message";
import { sayIfLocked } from "./remote-lock";

/** A run of the engine that is constrained by a plan. */
interface PlannedRun {
  readonly project: Project;
  readonly stack: string;
  /** The engine's own plan. */
  readonly engine: unknown;
  /** The policies of the command, which also check each later preview. */
  readonly policies: PolicyCall;
  /** The kubeconfig of the cluster in which to request a pause; undefined when a pause is not possible. */
  readonly kubeconfig?: FetchedKubeconfig;
}

type RunEnd = "done" | "failed" | "interrupted" | "paused" | "locked" | "moved meanwhile";

/**
 * Runs `pulumi up` with a plan and shows its output. The first Ctrl-C asks the cluster's rollout to pause before its
 * next node. The next one, or the first when no pause is possible, makes the engine finish its current operations; one
 * more stops it at once.
 */
async function runPlan(run: PlannedRun, say: (line: string) => void): Promise<RunEnd> {
  return withPrivateFolder(async (folder) => {
    const file = path.join(folder, "plan.json");
    await writePrivately(file, JSON.stringify(run.engine));
    const codes = path.join(folder, "failure-codes");
    await writePrivately(codes, "");
    const args = ["up", "--plan", file, "--stack", run.stack, "--yes", "--skip-preview"];
    // outputs contain whole objects, and `pulumi stack output` prints them on request
    const quiet = ["--suppress-progress", "--suppress-outputs"];
    const behind = new BehindFailure();
    const { child, ended } = startPulumi({
      project: run.project,
      args: [...args, ...quiet, ...PARALLEL_ARGUMENTS],
      passThrough: true,
      filter: behind,
      environment: { [FAILURE_CODES]: codes },
    });
    let hasAsked = false;
    let count = 0;
    const pause = async () => {
      say("interrupted: asking for a pause …");
      const refusal = await requestPause(run.kubeconfig);
      hasAsked = refusal === undefined;
      if (hasAsked)
        return say(
          "asked for a pause: the current node is finished first. Ctrl-C again interrupts the engine.",
        );
      say(`no pause, since ${refusal}; the engine ends what it has begun. Ctrl-C again stops it at once.`);
      child.kill("SIGINT");
    };
    const forget = onInterrupts((signal) => {
      count += 1;
      if (count > 1 || signal !== "SIGINT") child.kill("SIGINT");
      else void pause();
    });
    try {
      const { exitCode, stdout, stderr } = await ended;
      if (behind.summary !== undefined) say(behind.summary);
      const failed = (await readFile(codes, "utf8")).split("\n").filter((code) => code !== "");
      if (failed.includes("RolloutPaused")) return "paused";
      if (exitCode === 0) return "done";
      if (count > 0) return "interrupted";
      if (sayIfLocked(stdout + stderr, run.stack, say)) return "locked";
      // what failed beside it needs a person
      return failed.length === 0 && /\bviolates plan\b/.test(stdout + stderr) ? "moved meanwhile" : "failed";
    } finally {
      forget();
      // the next run removes a request that could not be withdrawn as outdated
      if (hasAsked && run.kubeconfig) await annotate(run.kubeconfig, null).catch(() => undefined);
    }
  });
}

/** Previews a stack in the middle of a command, and shows what the preview refuses. */
async function planAgain({ project, stack, policies }: Omit<PlannedRun, "engine">) {
  const taken = await takePreview(project, stack, policies);
  if (taken.plan === undefined) for (const words of taken.preview.errors) printError(`error: ${words}`);
  return taken;
}

/** How often a run is planned again because machines went on meanwhile. */
const LATER_PLANS = 3;

/**
 * Runs a plan. When the cluster changes meanwhile, such as by a join that a killed run began and the machine ends, it plans again,
 * as long as only a part of what was reviewed is left.
 */
export async function runReviewed(
  run: Omit<PlannedRun, "engine">,
  reviewed: SavedPlan["reviewed"],
  engine: unknown,
  say: (line: string) => void,
): Promise<RunEnd> {
  let end = await runPlan({ ...run, engine }, say);
  for (let count = 0; end === "moved meanwhile" && count < LATER_PLANS; count += 1) {
    say(`the cluster changed while this ran: comparing ${run.stack} with what was reviewed again`);
    const { plan } = await planAgain(run);
    if (plan === undefined) return "failed";
    const { kind } = compareReview(reviewed, plan.reviewed);
    if (kind === "moved") return end;
    if (kind === "nothing left" && !changesOutputs(plan)) return "done";
    end = await runPlan({ ...run, engine: plan.engine }, say);
  }
  return end;
}

/** The user waits for this after Ctrl-C. */
const SECONDS = 8;

type Lease = KubernetesObject & { spec?: { holderIdentity?: string } };

/**
 * Asks the running process to stop before its next node. Never throws.
 *
 * @param kubeconfig the stack's output, or undefined when it has none yet
 * @returns undefined, or why that is not possible
 */
async function requestPause(kubeconfig: FetchedKubeconfig | undefined): Promise<string | undefined> {
  if (kubeconfig === undefined) return "the stack has no kubeconfig yet";
  const request = `${new Date().toISOString()} ${userInfo().username}@${hostname()}`;
  return annotate(kubeconfig, request).catch(
    (error: unknown) => `the cluster can't be asked: ${messageOf(error)}`,
  );
}

/** @returns why no pause can be requested: no run holds the lease; undefined after the annotation was written */
async function annotate(kubeconfig: FetchedKubeconfig, request: string | null): Promise<string | undefined> {
  const client = await KubernetesClient.connect({ kubeconfig }, { seconds: SECONDS, callSeconds: SECONDS });
  try {
    if (request !== null && !(await client.get<Lease>(CLUSTER_LEASE))?.spec?.holderIdentity)
      return "no run is changing the cluster now";
    await client.mergePatch(CLUSTER_LEASE, { metadata: { annotations: { [PAUSE_REQUESTED]: request } } });
    return undefined;
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
  run: Omit<PlannedRun, "engine">,
  first: Pick<SavedPlan, "reviewed">,
  say: (line: string) => void,
): Promise<RunEnd | "refused"> {
  for (let reviewed = first.reviewed; remainingRuns(reviewed).length > 0;) {
    say(`machines are left to do: previewing ${run.stack} again`);
    const { plan, preview } = await planAgain(run);
    if (plan === undefined) return "failed";
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
