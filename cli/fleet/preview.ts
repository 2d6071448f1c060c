import { mkdir } from "node:fs/promises";
import path from "node:path";
import { fileFault } from "../../lib/files";
import { findDangers } from "../review/dangers";
import { readPreview } from "../review/preview";
import { countSteps } from "../review/steps";
import { plural } from "../../lib/text/plural";
import { EXIT } from "../exit-codes";
import { withPrivateFolder } from "../private-file";
import { findProject, type Project } from "../pulumi";
import { print } from "../terminal";
import { readEachStack } from "./each-stack";
import { loadFleet, planFile, readIfThere, stacksOf } from "./load";
import type { Fleet } from "./plan/fleet";
import { lastLines } from "./stack-process";
import { fleetTable } from "./table";

export interface FleetPreviewOptions {
  readonly file?: string;
  /** The folder for the plans of `foresail fleet up --plan`. */
  readonly savePlan?: string;
}

/** Previews all stacks of a fleet; changes nothing. @returns the exit code: failed when the preview of a stack failed */
export async function fleetPreview({ file, savePlan }: FleetPreviewOptions, say = print): Promise<number> {
  const project = await findProject();
  const fleet = await loadFleet(project, file);
  if (savePlan === undefined)
    return withPrivateFolder(async (folder) => EXIT[await previewAll(project, fleet, folder, say)]);
  const end = await previewAll(project, fleet, savePlan, say);
  if (end === "done")
    say(`the plans are in ${savePlan}; to do exactly this: foresail fleet up --plan ${savePlan}`);
  return EXIT[end];
}

/** Previews all stacks, as many at once as the fleet allows, and prints their table. */
export async function previewAll(
  project: Project,
  fleet: Fleet,
  plans: string,
  say: (line: string) => void,
): Promise<"done" | "failed" | "interrupted"> {
  await mkdir(plans, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw new Error(`can't create ${plans}: ${fileFault(error) ?? String(error)}; name another folder`);
  });
  const stacks = stacksOf(fleet);
  say(`previewing ${plural(stacks.length, "stack")}, ${fleet.maxParallel} at once`);
  const { end, found } = await readEachStack(project, fleet, {
    argumentsOf: (stack, json) => [
      ...["preview", "--stack", stack, "--save-plan", path.resolve(planFile(plans, stack))],
      ...["--json", json],
    ],
    read: (exitCode, { output, log }) => resultOf(exitCode, output, log),
  });
  for (const [name, { details }] of found)
    if (details.length > 0) say([`${name}:`, ...details].join("\n    "));
  for (const line of fleetTable(fleet, "PREVIEW", (name) => found.get(name)?.text ?? "not previewed"))
    say(line);
  return end;
}

async function resultOf(exitCode: number, json: string, log: string) {
  const text = await readIfThere(json);
  if (exitCode !== 0 || text === undefined) return { text: "failed", details: await lastLines(log) };
  const preview = readPreview(text);
  const dangers = findDangers(preview);
  const review = dangers.length === 0 ? "" : `; review first: ${dangers.length}`;
  const steps = preview.changes.flatMap((change) => change.steps);
  const all = [...steps, ...dangers.map(({ kind, words }) => `! ${kind}: ${words}`)];
  return preview.changes.length === 0
    ? { text: "nothing changes", details: [] }
    : { text: countSteps(preview.changes) + review, details: all };
}
