import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { findDangers } from "./review/dangers";
import { renderMarkdown } from "./review/markdown";
import { readPreview } from "./review/preview";
import { findProject } from "./project";

/** Options for `foresail report`. */
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
export async function report({ file, form, stack }: ReportOptions): Promise<void> {
  const read = readPreview(file === "-" ? await text(process.stdin) : await readFile(file, "utf8"));
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
  process.stdout.write(
    `${JSON.stringify({ ...preview, changes, dangers: findDangers(preview) }, undefined, 2)}\n`,
  );
}
