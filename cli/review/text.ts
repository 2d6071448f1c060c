import { findDangers } from "./dangers";
import type { Preview } from "./preview";
import { plural } from "../../lib/text/plural";
import { countSteps } from "./steps";

/**
 * Renders a preview for a terminal: each resource with its steps, and the dangers at the end, where they are visible.
 */
export function renderText(preview: Preview): string[] {
  const lines: string[] = [];
  for (const { type, name, operation, steps } of preview.changes) {
    lines.push(`${operation} ${type} ${name}`, ...steps.map((step) => `    ${step}`));
  }
  if (preview.notes.length > 0) lines.push("remarks:", ...preview.notes.map((note) => `    ${note}`));
  const dangers = findDangers(preview);
  if (dangers.length > 0)
    lines.push("review first:", ...dangers.map(({ kind, words }) => `  ! ${kind}: ${words}`));
  lines.push(
    preview.changes.length === 0 && preview.errors.length === 0
      ? `nothing changes; ${plural(preview.unchanged, "resource")} unchanged`
      : `${countSteps(preview.changes)}; ${preview.unchanged} unchanged`,
  );
  return lines;
}
