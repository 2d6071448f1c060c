import { readFile } from "node:fs/promises";
import path from "node:path";
import { readGivenFile } from "../../lib/files";
import { callPulumi, type Project } from "../pulumi";
import { readLabels } from "./labels";
import { choosesByLabel, type Fleet, readFleet, stacksOf } from "./plan/fleet";
import { reviewId } from "./run-file";
import { readStackFiles } from "./stack-files";
import { invalidFile, parseYaml } from "./yaml-file";

/** Reads fleet.yaml and finds its stacks. @throws Error with the file and its validation issues, one per line */
export const loadFleet = (project: Project, file?: string): Promise<Fleet> =>
  resolveFleet(project, file, async () => {
    const { stdout } = await callPulumi({ project, args: ["stack", "ls", "--json"] });
    return (JSON.parse(stdout) as { name: string }[]).map((stack) => stack.name).sort();
  });

/** Reads fleet.yaml and finds its stacks by their files alone, without the engine and its backend. */
export const loadFleetOfFiles = (project: Project, file?: string): Promise<Fleet> =>
  resolveFleet(project, file, () => Promise.resolve(Object.keys(readStackFiles(project).layerOf)));

async function resolveFleet(
  project: Project,
  file = path.join(project.folder, "fleet.yaml"),
  findStacks: () => Promise<readonly string[]>,
): Promise<Fleet> {
  const name = path.basename(file);
  const value = parseYaml(
    await readGivenFile(file, "the waves in", "create it (docs/regions.md shows one), or give --file"),
    name,
  );
  const existing = await findStacks();
  const labels = choosesByLabel(value) ? readLabels(project, existing) : {};
  const { fleet, issues } = readFleet(value, existing, labels);
  if (fleet !== undefined) return fleet;
  throw invalidFile(name, issues);
}

/** Returns the file of a stack's plan. */
export const planFile = (folder: string, stack: string): string =>
  path.join(folder, `${encodeURIComponent(stack)}.json`);

/** Returns what identifies the plans of a folder together with the waves. @throws Error when a plan is missing */
export async function reviewOf(fleet: Fleet, folder: string): Promise<string> {
  const fix = "give the folder that `foresail fleet preview --save-plan` wrote for these waves";
  const plans = stacksOf(fleet).map((stack) => readGivenFile(planFile(folder, stack), "the plan", fix));
  return reviewId(fleet.waves, await Promise.all(plans));
}

/** Returns the content of a file; undefined when it can't be read. */
export const readIfThere = (file: string): Promise<string | undefined> =>
  readFile(file, "utf8").catch(() => undefined);
