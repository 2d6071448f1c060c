import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { isObject } from "../../lib/json";
import { LAYER_KEY } from "../../lib/layers/layer";
import { stackFolder } from "../../lib/layers/layer-file";
import { mergeOver } from "../../lib/layers/merge";
import { check } from "../../lib/validation/check";
import { StackLabels } from "../../lib/layers/stack-labels";
import { readLayer } from "../config-show";
import type { Project } from "../pulumi";
import type { LabelsOfStacks } from "./plan/fleet";
import { invalidFile, parseYaml } from "./yaml-file";

/**
 * Returns the labels of stacks from their files and layers, without the engine.
 *
 * @throws Error with the stack and its validation issues, one per line
 */
export const readLabels = (project: Project, stacks: readonly string[]): LabelsOfStacks =>
  Object.fromEntries(stacks.map((stack) => [stack, labelsOf(project, stack)]));

function labelsOf(project: Project, stack: string): Record<string, string> {
  const name = `Pulumi.${stack.split("/").at(-1)}.yaml`;
  const config = readConfig(path.join(stackFolder(project.folder), name), name);
  const layer = config[`${project.name}:${LAYER_KEY}`];
  const below = typeof layer === "string" ? readLayer(layer, project).values.labels : undefined;
  const merged = mergeOver(below, config[`${project.name}:labels`]) ?? {};
  const { value, issues } = check(StackLabels, merged, ["labels"]);
  if (value !== undefined) return value;
  const files = below === undefined ? name : `${name} over layers/${String(layer)}.yaml`;
  throw invalidFile(files, issues);
}

function readConfig(file: string, name: string): Record<string, unknown> {
  // a stack without a configuration has no file
  if (!existsSync(file)) return {};
  const value = parseYaml(readFileSync(file, "utf8"), name, { merge: true });
  const config = isObject(value) ? value.config : undefined;
  return isObject(config) ? config : {};
}
