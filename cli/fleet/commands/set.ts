import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { isMap, isScalar } from "yaml";
import { readYamlDocument } from "../../../lib/yaml";
import { stackFolder } from "../../../lib/layers/layer-file";
import { displayLine } from "../../../lib/text/display";
import { listed, quoted } from "../../../lib/text/quote";
import { valueAt } from "../../../lib/validation/validation-issue";
import { readLayer } from "../../commands/config-show";
import { EXIT, UsageError } from "../../terminal/exit-codes";
import { findProject, type Project } from "../../engine/pulumi";
import { print } from "../../terminal/terminal";
import { matchesPattern } from "../../../lib/text/pattern";
import {
  planVersion,
  targetIssue,
  type VersionEdit,
  versionKey,
  type VersionSource,
} from "../plan/set-version";
import { readConfig, readMerged, readStackFiles, stackFileName } from "../files/stack-files";

export interface FleetSetOptions {
  readonly version: string;
  /** Names or patterns. */
  readonly stacks: readonly string[];
}

/** Writes a Kubernetes version into the stack files or layers of a set of stacks; touches no stack. @returns the exit code */
export async function fleetSetVersion({ stacks, ...given }: FleetSetOptions, say = print): Promise<number> {
  const version = given.version.replace(/^v/, "");
  const wrong = targetIssue(version);
  if (wrong !== undefined) throw new UsageError(wrong);
  const project = await findProject();
  const { layerOf } = readStackFiles(project);
  const all = Object.keys(layerOf);
  for (const pattern of stacks)
    if (!all.some((stack) => matchesPattern(stack, pattern)))
      throw new UsageError(`--stacks ${quoted(pattern)} matches no stack file; there are ${listed(all)}`);
  const chosen = new Set(all.filter((stack) => stacks.some((pattern) => matchesPattern(stack, pattern))));
  const sources = all.map((stack) => sourceOf(project, stack, layerOf[stack]));
  const { edits, issues } = planVersion(sources, chosen);
  if (issues.length > 0)
    throw new Error(`nothing was changed:${issues.map((line) => `\n  ${displayLine(line)}`).join("")}`);
  const open = edits.filter(({ from }) => from !== version);
  // all texts before the first write, so that a file that can't be changed leaves the others as they are
  const texts = await Promise.all(open.map((edit) => edited(project, edit, version)));
  for (const { file, text } of texts) await writeFile(file, text);
  for (const [at, { from, stacks: of }] of open.entries()) {
    const name = path.relative(project.folder, texts[at]?.file ?? "");
    say(displayLine(`${name}: ${typeof from === "string" ? from : "none"} → ${version} (${of.join(", ")})`));
  }
  say(
    open.length === 0
      ? `these stacks have ${version} already`
      : "no stack was touched; to see what it changes: foresail fleet preview",
  );
  return EXIT.done;
}

function sourceOf(project: Project, stack: string, layer: string | undefined): VersionSource {
  const system = readMerged(project, stack, "system").value;
  const key = versionKey(system);
  const below = layer === undefined ? undefined : readLayer(layer, project).values[key];
  const own = readConfig(project, stack)[`${project.name}:${key}`];
  return { stack, system, layer, own: valueAt(own, ["version"]), below: valueAt(below, ["version"]) };
}

/** Returns the text of a file with the version. Only its characters change where the file has one already. */
async function edited(
  project: Project,
  { layer, stack = "", stacks }: VersionEdit,
  version: string,
): Promise<{ file: string; text: string }> {
  const name = layer === undefined ? stackFileName(stack) : path.join("layers", `${layer}.yaml`);
  const file = path.join(stackFolder(project.folder), name);
  const key = versionKey(readMerged(project, stacks[0] ?? "", "system").value);
  const text = await readFile(file, "utf8");
  const now = withVersion(text, [`${project.name}:${key}`, "version"], version);
  if (now === undefined)
    throw new Error(
      `${name} does not have the version as plain YAML; write it there, then preview. Nothing was changed.`,
    );
  return { file, text: now };
}

/** Returns the text of a stack file or layer with the version at a path below config; undefined where that is not possible. */
export function withVersion(text: string, path: readonly string[], version: string): string | undefined {
  const document = readYamlDocument(text, { merge: true });
  const full = ["config", ...path];
  const node = document.getIn(full, true);
  if (isScalar(node) && node.range) {
    const [from, to] = node.range;
    return `${text.slice(0, from)}"${version}"${text.slice(to)}`;
  }
  const parent: unknown = document.getIn(full.slice(0, -1), true);
  if (node !== undefined || (parent !== undefined && !isMap(parent))) return undefined;
  const value = document.createNode(version);
  value.type = "QUOTE_DOUBLE";
  document.setIn(full, value);
  return document.toString({ lineWidth: 0 });
}
