import { readFile } from "node:fs/promises";
import path from "node:path";
import { foresailVersion } from "../lib/version";
import { NotAPreviewError } from "../lib/pulumi/preview-json";
import { type Preview, readPreview } from "./review/preview";
import { makeSavedPlan, type SavedPlan } from "./review/saved-plan";
import { withPrivateFolder } from "./private-file";
import { PulumiError, runPulumi } from "./pulumi";
import type { Project } from "./project";

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
export async function takePreview(project: Project, stack: string): Promise<TakenPreview> {
  return withPrivateFolder(async (folder) => {
    const file = path.join(folder, "plan.json");
    const args = ["preview", "--json", "--save-plan", file, "--stack", stack];
    const { exitCode, stdout, stderr } = await runPulumi({ project, args });
    const preview = readIfPreview(stdout);
    if (preview === undefined || (exitCode !== 0 && preview.errors.length === 0))
      throw new PulumiError("preview", exitCode, stderr.trim() || stdout.trim());
    if (exitCode !== 0 || preview.errors.length > 0) return { preview, json: stdout };
    const engine: unknown = JSON.parse(await readFile(file, "utf8"));
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
