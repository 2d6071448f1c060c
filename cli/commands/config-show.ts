import { stringify } from "yaml";
import { isObject } from "../../lib/json";
import { LAYER_KEY, type Layer, layerNameIssue, parseLayer } from "../../lib/layers/layer";
import { readLayerFile } from "../../lib/layers/layer-file";
import { isFromOver, mergeOver } from "../../lib/layers/merge";
import { displayJson } from "../../lib/text/display";
import { issueCount, issueLines } from "../../lib/validation/validation-issue";
import { CONFIGURATION_KEYS } from "../../stacks/schema/keys";
import { EXIT } from "../terminal/exit-codes";
import { callPulumiJson, findProject, findStack } from "../engine/pulumi";
import { print, printError } from "../terminal/terminal";

export interface ConfigShowOptions {
  readonly stack?: string;
  readonly json?: true;
  readonly output: "text" | "json";
}

/** What `pulumi config --json` prints of a key. */
interface EngineValue {
  readonly value?: string;
  readonly objectValue?: unknown;
  readonly secret: boolean;
}

/** A value of the configuration, or a map of which nothing is left, and the file it comes from. */
interface ShownValue {
  readonly path: readonly string[];
  readonly value: unknown;
  readonly file: string;
}

const MASK = "[secret]";

/**
 * Prints the configuration of a stack as the program reads it: merged, with the file of each value, secrets masked.
 *
 * @returns the exit code: failed when the layer can't be used
 */
export async function configShow(options: ConfigShowOptions, say = print): Promise<number> {
  const project = await findProject();
  const stack = await findStack(project, options.stack);
  const printed = await callPulumiJson({ project, args: ["config", "--json", "--stack", stack] });
  const written = stackValues(printed as Record<string, EngineValue>);
  const name = written[`${project.name}:${LAYER_KEY}`];
  const layer = typeof name === "string" ? readLayer(name, project) : undefined;
  if (layer !== undefined && layer.issues.length > 0) {
    printError(`${layer.file} has ${issueCount(layer.issues)}:`);
    for (const line of issueLines(layer.issues)) printError(`  ${line}`);
    return EXIT.failed;
  }
  const below = Object.entries(layer?.values ?? {}).map(([key, value]) => [`${project.name}:${key}`, value]);
  const values = mergedValues(
    { file: `Pulumi.${stack}.yaml`, values: written },
    layer && { file: layer.file, values: Object.fromEntries(below) as Record<string, unknown> },
  );
  if (options.json || options.output === "json") say(displayJson(values));
  else for (const line of renderValues(values)) say(line);
  return EXIT.done;
}

/** Reads the layer that a stack file names. @throws Error when there is none of that name */
export function readLayer(name: string, { name: project, folder }: { name: string; folder: string }): Layer {
  const issue = layerNameIssue(name);
  if (issue !== undefined) throw new Error(`${project}:${LAYER_KEY} ${issue}`);
  return parseLayer(readLayerFile(name, folder), project, CONFIGURATION_KEYS);
}

function stackValues(config: Record<string, EngineValue>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(config).map(([key, { value, objectValue, secret }]) => [
      key,
      secret ? MASK : (objectValue ?? value ?? ""),
    ]),
  );
}

interface WrittenFile {
  readonly file: string;
  readonly values: Record<string, unknown>;
}

/** Returns every value of the merged configuration; a list is one value, since lists replace each other. */
export function mergedValues(stack: WrittenFile, layer?: WrittenFile): ShownValue[] {
  const merged = layer === undefined ? stack.values : mergeOver(layer.values, stack.values);
  const leaves = (value: unknown, path: readonly string[]): ShownValue[] => {
    if (isObject(value) && Object.keys(value).length > 0)
      return Object.entries(value).flatMap(([key, below]) => leaves(below, [...path, key]));
    const isStack = layer === undefined || isFromOver(layer.values, stack.values, path);
    return [{ path, value, file: isStack ? stack.file : layer.file }];
  };
  return isObject(merged) && Object.keys(merged).length > 0 ? leaves(merged, []) : [];
}

/** The column of the comments, if the values leave it free. */
const COMMENTS_AT = 60;

/** Returns the values as YAML, each with its file in a comment. */
export function renderValues(values: readonly ShownValue[]): string[] {
  let open: readonly string[] = [];
  return values.flatMap(({ path, value, file }) => {
    const parents = path.slice(0, -1);
    const shared = parents.findIndex((name, index) => open[index] !== name);
    const from = shared < 0 ? parents.length : shared;
    open = parents;
    const titles = parents.slice(from).map((name, index) => `${indent(from + index)}${keyText(name)}:`);
    const [first = "", ...rest] = stringify({ [path.at(-1) ?? ""]: value }, { lineWidth: 0 })
      .trimEnd()
      .split("\n")
      .map((line) => indent(parents.length) + line);
    return [...titles, `${first.padEnd(COMMENTS_AT - 1)} # ${file}`, ...rest];
  });
}

const indent = (depth: number) => "  ".repeat(depth);
const keyText = (name: string) => stringify({ [name]: 0 }, { lineWidth: 0 }).replace(/: 0\n$/, "");
