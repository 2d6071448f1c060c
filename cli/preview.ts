import { redact } from "../lib/text/redaction";
import { renderText } from "./review/text";
import { clearIfFileBackend } from "./clear-dead-locks";
import { StackLockedError } from "./lock";
import { writePrivately } from "./private-file";
import { findProject } from "./project";
import { findStack } from "./pulumi";
import { takePreview } from "./take-preview";

/** Options for `foresail preview`. */
export interface PreviewOptions {
  readonly stack?: string;
  /** The file for the plan of `foresail up --plan`. */
  readonly savePlan?: string;
  /** The file for the engine's own output, for `foresail report`. */
  readonly json?: string;
}

/**
 * Shows what an `up` would do and saves it. Changes nothing.
 *
 * @returns the exit code: 0, or 1 when the preview has errors
 */
export async function preview(
  options: PreviewOptions,
  say = (line: string) => console.log(line),
): Promise<number> {
  const project = await findProject();
  const stack = await findStack(project, options.stack);
  try {
    for (const line of await clearIfFileBackend(project, stack)) say(line);
  } catch (error) {
    // a preview changes nothing, so it may run during another run and shows what is left at that moment
    if (!(error instanceof StackLockedError)) throw error;
    say(`note: ${error.message.split("\n")[0]}`);
  }
  say(`previewing ${stack}`);
  const taken = await takePreview(project, stack);
  for (const line of renderText(taken.preview)) say(line);
  if (options.json !== undefined) await writePrivately(options.json, taken.json);
  if (taken.plan === undefined) {
    for (const words of taken.preview.errors) console.error(redact(`error: ${words}`));
    return 1;
  }
  if (options.savePlan !== undefined) {
    await writePrivately(options.savePlan, `${JSON.stringify(taken.plan, undefined, 2)}\n`);
    say(
      `the plan is in ${options.savePlan}; to do exactly this: foresail up --plan ${options.savePlan} --stack ${stack}`,
    );
  }
  return 0;
}
