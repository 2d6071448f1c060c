import { readJsonOf } from "../../lib/json";
import { renderText } from "../review/text";
import { EXIT } from "../terminal/exit-codes";
import { readGivenFile } from "../../lib/files";
import { clearKilledRuns } from "../engine/killed-runs";
import { writePrivately, withPrivateFolder } from "../engine/private-file";
import { findProject, findStack, PulumiError, runPulumi, type Project } from "../engine/pulumi";
import { StackLockedError } from "../engine/stack-lock";
import { displayJson } from "../../lib/text/display";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { foresailVersion } from "../../lib/version";
import { NotAPreviewError, type Preview, readPreview } from "../review/preview";
import { makeSavedPlan, type SavedPlan } from "../review/saved-plan";
import { text } from "node:stream/consumers";
import { findDangers } from "../review/dangers";
import { renderMarkdown } from "../review/markdown";
import { NO_POLICIES, type PolicyCall, policyCall, type PolicyOptions } from "../engine/policy-call";
import { print, printError } from "../terminal/terminal";

export interface PreviewOptions extends PolicyOptions {
  readonly stack?: string;
  /** The file for the plan of `foresail up --plan`. */
  readonly savePlan?: string;
  /** The file for the engine's own output, for `foresail report`. */
  readonly json?: string;
}

/**
 * Shows what an `up` would do and saves it. Changes nothing.
 *
 * @returns the exit code: failed when the preview has errors
 */
export async function preview(options: PreviewOptions, say = print): Promise<number> {
  const project = await findProject();
  const policies = await policyCall(options);
  const stack = await findStack(project, options.stack);
  await clearBeforePreview(project, stack, say);
  say(`previewing ${stack}`);
  const all = options.json === undefined ? [] : SHOW_UNCHANGED;
  const taken = await takePreview(project, stack, { ...policies, args: [...policies.args, ...all] });
  for (const line of renderText(taken.preview)) say(line);
  if (options.json !== undefined) await writePrivately(options.json, taken.json);
  if (taken.plan === undefined) {
    for (const words of taken.preview.errors) printError(`error: ${words}`);
    return EXIT.failed;
  }
  if (options.savePlan !== undefined) {
    await writePrivately(options.savePlan, planText(taken.plan));
    say(
      `the plan is in ${options.savePlan}; to do exactly this: foresail up --plan ${options.savePlan} --stack ${stack}`,
    );
  }
  return EXIT.done;
}

/** Clears the locks of dead processes; a preview changes nothing, so it may run during another run. */
async function clearBeforePreview(
  project: Project,
  stack: string,
  say: (line: string) => void,
): Promise<void> {
  try {
    for (const line of await clearKilledRuns(project, stack, "locks")) say(line);
  } catch (error) {
    if (!(error instanceof StackLockedError)) throw error;
    // it shows what is left at that moment
    say(`note: ${error.message.split("\n")[0]}`);
  }
}

/** The engine lists what stays as it is, too: the report of a fleet shows all nodes. */
const SHOW_UNCHANGED = ["--show-sames"];

const planText = (plan: SavedPlan): string => `${JSON.stringify(plan, undefined, 2)}\n`;

/**
 * Previews a stack of a fleet, and writes its plan.
 *
 * @returns the engine's output, and the text of the plan unless the preview failed
 * @throws PulumiError when the engine itself failed
 */
export async function previewForFleet(
  project: Project,
  stack: string,
  planFile: string,
  policy: PolicyOptions,
): Promise<{ json: string; plan?: string }> {
  const policies = await policyCall(policy);
  await clearBeforePreview(project, stack, () => undefined);
  const taken = await takePreview(project, stack, {
    ...policies,
    args: [...policies.args, ...SHOW_UNCHANGED],
  });
  if (taken.plan === undefined) return { json: taken.json };
  const plan = planText(taken.plan);
  await writePrivately(planFile, plan);
  return { json: taken.json, plan };
}

/** The result of one run of `pulumi preview`. */
interface TakenPreview {
  readonly preview: Preview;
  /** The engine's output, with secrets masked. */
  readonly json: string;
  /** Undefined when the preview failed. */
  readonly plan?: SavedPlan;
}

/**
 * Previews a stack; changes nothing. A preview that a handler refused is returned with its errors.
 *
 * @throws PulumiError when the engine itself failed
 */
export async function takePreview(
  project: Project,
  stack: string,
  policies: PolicyCall = NO_POLICIES,
): Promise<TakenPreview> {
  return withPrivateFolder(async (folder) => {
    const file = path.join(folder, "plan.json");
    const args = ["preview", "--json", "--save-plan", file, "--stack", stack, ...policies.args];
    const { environment } = policies;
    const { exitCode, stdout, stderr } = await runPulumi({ project, args, environment });
    const preview = readIfPreview(stdout);
    if (preview === undefined || (exitCode !== 0 && preview.errors.length === 0))
      throw new PulumiError("preview", exitCode, stderr.trim() || stdout.trim());
    if (exitCode !== 0 || preview.errors.length > 0) return { preview, json: stdout };
    const engine = readJsonOf("the plan of pulumi preview", await readFile(file, "utf8"));
    const plan = makeSavedPlan(preview, { project: project.name, stack }, engine, foresailVersion());
    return { preview, json: stdout, plan };
  });
}

function readIfPreview(text: string): Preview | undefined {
  try {
    return readPreview(text);
  } catch (error) {
    if (error instanceof NotAPreviewError) return undefined;
    throw error;
  }
}

export interface ReportOptions {
  /** The output of `pulumi preview --json`; "-" is standard input. */
  readonly file: string;
  readonly form: "markdown" | "json";
  /** The stack, for a preview that failed before the engine named it. */
  readonly stack?: string;
}

/**
 * Prints a preview for a pull request or as JSON. Changes nothing, and needs neither engine nor stack.
 *
 * @throws NotAPreviewError
 */
export async function reportPreview({ file, form, stack }: ReportOptions): Promise<void> {
  const fix = "give the file that `foresail preview --json` wrote";
  const read = readPreview(
    file === "-" ? await text(process.stdin) : await readGivenFile(file, "the preview", fix),
  );
  const project = read.project ?? (await findProject().catch(() => undefined))?.name;
  const preview = {
    ...(stack !== undefined && { stack }),
    ...(project !== undefined && { project }),
    ...read,
  };
  if (form === "markdown") {
    process.stdout.write(renderMarkdown(preview));
    return;
  }
  const changes = preview.changes.map(({ inputs: _, ...change }) => change);
  process.stdout.write(`${displayJson({ ...preview, changes, dangers: findDangers(preview) })}\n`);
}
