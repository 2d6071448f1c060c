import { redact } from "../lib/text/redaction";
import { renderText } from "./review/text";
import { clearIfFileBackend } from "./clear-dead-locks";
import { StackLockedError } from "./lock";
import { writePrivately } from "./private-file";
import { findProject } from "./project";
import { findStack } from "./pulumi";
import { takePreview } from "./take-preview";

/** What `foresail preview` was asked for. */
export interface PreviewWish {
  readonly stack?: string;
  /** Where the plan for `foresail up --plan` goes. */
  readonly savePlan?: string;
  /** Where the engine's own output goes, for `foresail report`. */
  readonly json?: string;
}

/**
 * Shows what an `up` would do, and keeps it. Nothing is changed.
 * @returns the exit code: 0, or 1 when something is refused
 */
export async function preview(wish: PreviewWish, say = (line: string) => console.log(line)): Promise<number> {
  const project = await findProject();
  const stack = await findStack(project, wish.stack);
  try {
    for (const line of await clearIfFileBackend(project, stack)) say(line);
  } catch (error) {
    // a preview changes nothing, so it may be taken while somebody works; it shows what is left just then
    if (!(error instanceof StackLockedError)) throw error;
    say(`note: ${error.message.split("\n")[0]}`);
  }
  say(`previewing ${stack}`);
  const taken = await takePreview(project, stack);
  for (const line of renderText(taken.preview)) say(line);
  if (wish.json !== undefined) await writePrivately(wish.json, taken.json);
  if (taken.plan === undefined) {
    for (const words of taken.preview.errors) console.error(redact(`error: ${words}`));
    return 1;
  }
  if (wish.savePlan !== undefined) {
    await writePrivately(wish.savePlan, `${JSON.stringify(taken.plan, undefined, 2)}\n`);
    say(
      `the plan is in ${wish.savePlan}; to do exactly this: foresail up --plan ${wish.savePlan} --stack ${stack}`,
    );
  }
  return 0;
}
