import { RecordedResources, type StateResources } from "../lib/pulumi/state";
import { planRelease, type ReleasePlan } from "../providers/kubeadm/plan/release";
import { EXIT } from "./exit-codes";
import { clearKilledRuns } from "./killed-runs";
import { callPulumi, findProject, findStack, PARALLEL_ARGUMENTS, type Project, startPulumi } from "./pulumi";
import { askPerson, onInterrupts, print } from "./terminal";

export interface ReleaseOptions {
  readonly stack?: string;
  /** Whether the command line confirms the release. */
  readonly yes: boolean;
}

/**
 * Gives an adopted cluster back: shows what goes, asks, and runs the stack's destroy, which releases. Refuses a stack
 * whose destroy would reset machines.
 *
 * @returns the exit code
 */
export async function release(options: ReleaseOptions, say = print): Promise<number> {
  const project = await findProject();
  const stack = await findStack(project, options.stack);
  for (const line of await clearKilledRuns(project, stack, "operations")) say(line);
  const plan = await readPlan(project, stack);
  if ("refusal" in plan) {
    say(`refused: ${plan.refusal}. Nothing was touched.`);
    return EXIT.failed;
  }
  say(`releasing ${stack}: the cluster keeps running`);
  for (const line of plan.lines) say(`  ${line}`);
  if (!options.yes) {
    const answer = await askPerson("Do this? [y/N] ");
    if (answer !== true) {
      say(`nothing was changed${answer === undefined ? ": without a terminal, give --yes" : ""}`);
      return answer === undefined ? EXIT.usage : EXIT.declined;
    }
  }
  return runDestroy(project, stack, say);
}

async function readPlan(project: Project, stack: string): Promise<ReleasePlan> {
  const { stdout } = await callPulumi({ project, args: ["stack", "export", "--stack", stack] });
  const { deployment } = JSON.parse(stdout) as {
    deployment?: { resources?: { urn: string; type: string; outputs?: Record<string, unknown> }[] };
  };
  const resources: StateResources = Object.fromEntries(
    (deployment?.resources ?? []).map(({ urn, ...resource }) => [urn, resource]),
  );
  return planRelease(new RecordedResources(resources).all);
}

async function runDestroy(project: Project, stack: string, say: (line: string) => void): Promise<number> {
  const args = ["destroy", "--stack", stack, "--yes", "--skip-preview", "--suppress-progress"];
  const { child, ended } = startPulumi({
    project,
    args: [...args, ...PARALLEL_ARGUMENTS],
    passThrough: true,
  });
  let isInterrupted = false;
  const forget = onInterrupts(() => {
    isInterrupted = true;
    child.kill("SIGINT");
  });
  try {
    const { exitCode } = await ended;
    if (exitCode === 0) return EXIT.done;
    say("not everything is released; to continue: foresail release");
    return isInterrupted ? EXIT.interrupted : EXIT.failed;
  } finally {
    forget();
  }
}
