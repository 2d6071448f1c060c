import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { isObject } from "../../../lib/json";
import { LAYER_KEY } from "../../../lib/layers/layer";
import { stackFolder } from "../../../lib/layers/layer-file";
import { mergeOver } from "../../../lib/layers/merge";
import { readYamlOf } from "../../../lib/yaml";
import type { KeyName } from "../../../stacks/schema/keys";
import { readLayer } from "../../commands/config-show";
import type { Project } from "../../engine/pulumi";
import { type StackFiles, stackOfFile } from "../plan/changed";

/** Returns the stack files of a project and the layers that they name, without the engine. */
export function readStackFiles(project: Project): StackFiles {
  const folder = stackFolder(project.folder);
  const stacks = readdirSync(folder).flatMap((name) => stackOfFile(name) ?? []);
  return {
    folder: path.relative(project.folder, folder).split(path.sep).join("/"),
    layerOf: Object.fromEntries(
      stacks.sort().map((stack) => [stack, layerOf(project, readConfig(project, stack))]),
    ),
  };
}

/** Returns the layer that a stack's configuration names. */
export function layerOf(project: Project, config: Record<string, unknown>): string | undefined {
  const layer = config[`${project.name}:${LAYER_KEY}`];
  return typeof layer === "string" ? layer : undefined;
}

/** A value of a stack's configuration, and the files that it comes from. */
export interface MergedValue {
  readonly value: unknown;
  readonly files: string;
}

/** Returns a value of a stack's configuration by its files alone: merged over that of the layer, and unchecked. */
export function readMerged(project: Project, stack: string, key: KeyName): MergedValue {
  const config = readConfig(project, stack);
  const layer = layerOf(project, config);
  const below = layer === undefined ? undefined : readLayer(layer, project).values[key];
  const file = stackFileName(stack);
  return {
    value: mergeOver(below, config[`${project.name}:${key}`]),
    files: below === undefined ? file : `${file} over layers/${layer}.yaml`,
  };
}

/** Returns the name of a stack's file. */
export const stackFileName = (stack: string): string => `Pulumi.${stack.split("/").at(-1)}.yaml`;

/** Returns the configuration in the file of a stack; none when it has no file. */
export function readConfig(project: Project, stack: string): Record<string, unknown> {
  const name = stackFileName(stack);
  const file = path.join(stackFolder(project.folder), name);
  // a stack without a configuration has no file
  if (!existsSync(file)) return {};
  const value = readYamlOf(name, readFileSync(file, "utf8"), { merge: true });
  const config = isObject(value) ? value.config : undefined;
  return isObject(config) ? config : {};
}
