import { readFile } from "node:fs/promises";
import path from "node:path";
import { pageOf } from "../../../lib/pages";
import { readGivenFile } from "../../../lib/files";
import { cutList, quoted } from "../../../lib/text/quote";
import { readYamlOf } from "../../../lib/yaml";
import { findBackend } from "../../engine/backend";
import { UsageError } from "../../terminal/exit-codes";
import { stacksInFolder } from "../../engine/killed-runs";
import { callPulumiJson, type Project } from "../../engine/pulumi";
import { readLabels } from "./labels";
import { choosesByLabel, type Fleet, namedStacks, readFleet, stacksOf, type Wave } from "../plan/fleet";
import { nodesIssue } from "../plan/systems";
import { reviewId } from "../run/run-file";
import { readMerged, readStackFiles } from "./stack-files";
import { fleetFileName, invalidFile } from "./yaml-file";

/** Reads fleet.yaml and finds its stacks. @throws Error with the file and its validation issues, one per line */
export const loadFleet = (project: Project, file?: string): Promise<Fleet> =>
  resolveFleet(project, file, (value) => existingStacks(project, value));

/** Reads fleet.yaml and finds its stacks by their files alone, without the engine and its backend. */
export const loadFleetOfFiles = (project: Project, file?: string): Promise<Fleet> =>
  resolveFleet(project, file, () => Promise.resolve(Object.keys(readStackFiles(project).layerOf)));

/** Reads fleet.yaml for a command that reads no state: from a bucket or a database, a list of stacks is every state. */
export async function loadFleetToShow(project: Project, file?: string): Promise<Fleet> {
  const { kind } = await findBackend(project.folder);
  return kind === "remote" ? loadFleetOfFiles(project, file) : loadFleet(project, file);
}

/** Finds the stacks among which fleet.yaml chooses. `pulumi stack ls` reads every state, except in Pulumi Cloud. */
async function existingStacks(project: Project, value: unknown): Promise<readonly string[]> {
  const backend = await findBackend(project.folder);
  if (backend.kind === "folder") {
    const stacks = await stacksInFolder(backend.folder, project.name);
    if (stacks.length > 0) return stacks;
  }
  const named = backend.kind === "remote" ? namedStacks(value) : undefined;
  // the engine says which one of them does not exist
  if (named !== undefined) return named;
  const found = await callPulumiJson({ project, args: ["stack", "ls", "--json"] });
  return (found as { name: string }[]).map((stack) => stack.name).sort();
}

async function resolveFleet(
  project: Project,
  file = path.join(project.folder, "fleet.yaml"),
  findStacks: (value: unknown) => Promise<readonly string[]>,
): Promise<Fleet> {
  const name = fleetFileName(file);
  const value = readYamlOf(
    name,
    await readGivenFile(file, "the waves in", `create it (${pageOf("regions")} shows one), or give --file`),
  );
  const existing = await findStacks(value);
  const labels = choosesByLabel(value) ? readLabels(project, existing) : {};
  const valueOf = (stack: string) => (key: "system" | "azimuth") => readMerged(project, stack, key).value;
  const { fleet, issues } = readFleet(value, existing, labels, (stack) => nodesIssue(valueOf(stack)));
  if (fleet !== undefined) return fleet;
  throw invalidFile(name, issues);
}

/**
 * Returns the wave with a name.
 *
 * @param file the fleet's file, as the command line gives it
 * @throws UsageError that names the waves
 */
export function waveNamed({ waves }: Fleet, name: string, file: string | undefined): Wave {
  const wave = waves.find((one) => one.name === name);
  if (wave !== undefined) return wave;
  const names = cutList(
    waves.map((one) => one.name),
    ", ",
  );
  throw new UsageError(`--wave ${quoted(name)} is not a wave of ${fleetFileName(file)}; it has ${names}`);
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
