import { z } from "zod";
import { readGivenFile } from "../../../lib/files";
import { parseJson } from "../../../lib/json";
import { displayJson, displayLine } from "../../../lib/text/display";
import { listed } from "../../../lib/text/quote";
import { EXIT, UsageError } from "../../terminal/exit-codes";
import { findProject } from "../../engine/pulumi";
import { print, printError } from "../../terminal/terminal";
import { changedSince } from "../files/git";
import { loadFleetOfFiles } from "../files/load";
import { stacksOf } from "../plan/fleet";
import { touchedBy } from "../plan/changed";
import { readStackFiles } from "../files/stack-files";

export interface FleetChangedOptions {
  readonly file?: string;
  /** A commit, branch or tag. */
  readonly since?: string;
  /** A file with the changed paths as a JSON list, instead of what git says. */
  readonly paths?: string;
  readonly json?: true;
  readonly output: "text" | "json";
}

/** Prints the stacks of the fleet whose files or layers a change touches, by the files alone. @returns the exit code */
export async function fleetChanged(
  { file, since, paths, json, output }: FleetChangedOptions,
  say = print,
  note = printError,
): Promise<number> {
  if ((since === undefined) === (paths === undefined)) throw new UsageError("give --since or --paths");
  const project = await findProject();
  const fleet = await loadFleetOfFiles(project, file);
  const files = readStackFiles(project);
  const changed =
    paths === undefined
      ? await changedSince(project.folder, since ?? "", files.folder)
      : await readPaths(paths);
  const { stacks, others } = touchedBy(changed, files);
  const touched = new Set(stacks);
  if (json || output === "json")
    say(
      displayJson({
        waves: Object.fromEntries(
          fleet.waves.map((wave) => [wave.name, wave.stacks.filter((stack) => touched.has(stack))]),
        ),
        others,
      }),
    );
  else for (const stack of stacksOf(fleet)) if (touched.has(stack)) say(stack);
  const inFleet = new Set(stacksOf(fleet));
  const outside = stacks.filter((stack) => !inFleet.has(stack));
  if (outside.length > 0) note(`note: changed, and in no wave: ${listed(outside)}`);
  if (others.length > 0)
    note(`note: these are not stack files, and may change every stack: ${displayLine(listed(others))}`);
  return EXIT.done;
}

async function readPaths(file: string): Promise<readonly string[]> {
  const text = await readGivenFile(
    file,
    "the changed paths in",
    'write a JSON list of texts, such as ["a.yaml"]',
  );
  const list = z.array(z.string()).safeParse(parseJson(text)).data;
  if (list === undefined) throw new UsageError(`--paths ${file} is not a JSON list of texts`);
  return list;
}
