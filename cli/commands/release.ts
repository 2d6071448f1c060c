import { RecordedResources, type StateResources } from "../../lib/pulumi/state";
import { planRelease, type ReleasePlan } from "../../providers/kubeadm/plan/adoption/release";
import { EXIT } from "../terminal/exit-codes";
import { clearKilledRuns } from "../engine/killed-runs";
import { callPulumiJson, findProject, findStack, type Project } from "../engine/pulumi";
import { runDestroy } from "../engine/run-destroy";
import { askPerson, print } from "../terminal/terminal";

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
  const exitCode = await runDestroy(project, stack);
  if (exitCode !== EXIT.done) say("not everything is released; to continue: foresail release");
  return exitCode;
}

async function readPlan(project: Project, stack: string): Promise<ReleasePlan> {
  const { deployment } = (await callPulumiJson({
    project,
    args: ["stack", "export", "--stack", stack],
  })) as {
    deployment?: { resources?: { urn: string; type: string; outputs?: Record<string, unknown> }[] };
  };
  const resources: StateResources = Object.fromEntries(
    (deployment?.resources ?? []).map(({ urn, ...resource }) => [urn, resource]),
  );
  return planRelease(new RecordedResources(resources).all);
}
