import { quoted } from "../../../../lib/text/quote";
import type { Fleet, Wave } from "../fleet";
import { openParts } from "../gate";

/** A file of an export: its documents are written as YAML below the comment. */
export interface ExportedFile {
  readonly name: string;
  readonly comment: string;
  readonly documents: readonly unknown[];
}

/** What every exported file begins with. */
export const writtenBy = (target: string): string =>
  `Written by \`foresail fleet export ${target}\` from fleet.yaml: change that, and write this file again.`;

/** What every pipeline does before it runs foresail; no install script of a dependency runs. */
export const INSTALL = "npm ci --ignore-scripts && npm run build";

/** Returns whether a name is one that pipelines may contain. */
export const isPlainName = (name: string): boolean => /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/.test(name);

/**
 * Returns the names of waves and stacks of a fleet that are not plain text. Only plain text is written into a pipeline, so
 * that no name is read as YAML, as an expression or by a shell.
 */
function namesToRefuse({ waves }: Fleet): string[] {
  return waves.flatMap(({ name, stacks }) => [name, ...stacks]).filter((name) => !isPlainName(name));
}

/** @throws Error that names what can't be written into a pipeline */
export function refuseNames(fleet: Fleet): void {
  const [name] = namesToRefuse(fleet);
  if (name !== undefined)
    throw new Error(
      `${quoted(name)} can't be exported: only names of letters, digits, "-", "_" and "." can; rename the stack or the wave`,
    );
}

/** Whether the gate of a wave has parts that a machine checks. */
export const hasChecks = ({ gate }: Wave): boolean => gate !== undefined && openParts(gate).length > 0;

/** Whether a person approves after a wave. */
export const hasApproval = ({ gate }: Wave): boolean => gate?.approval === true;
