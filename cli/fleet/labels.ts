import { mergeOver } from "../../lib/layers/merge";
import { check } from "../../lib/validation/check";
import { StackLabels } from "../../lib/layers/stack-labels";
import { readLayer } from "../config-show";
import type { Project } from "../pulumi";
import { type Fleet, type LabelsOfStacks, stacksOf } from "./plan/fleet";
import { type Regions, regionsOf } from "./plan/temporal";
import { layerOf, readConfig, stackFileName } from "./stack-files";
import { invalidFile } from "./yaml-file";

/**
 * Returns the labels of stacks from their files and layers, without the engine.
 *
 * @throws Error with the stack and its validation issues, one per line
 */
export const readLabels = (project: Project, stacks: readonly string[]): LabelsOfStacks =>
  Object.fromEntries(stacks.map((stack) => [stack, labelsOf(project, stack)]));

/**
 * Returns the region of each stack of a fleet by its labels, without the engine.
 *
 * @throws Error with each stack that has none
 */
export function readRegions(project: Project, fleet: Pick<Fleet, "waves">): Regions {
  const { regions, issues } = regionsOf(fleet, readLabels(project, stacksOf(fleet)));
  if (issues.length > 0) throw invalidFile("fleet.yaml", issues);
  return regions;
}

function labelsOf(project: Project, stack: string): Record<string, string> {
  const config = readConfig(project, stack);
  const layer = layerOf(project, config);
  const below = layer === undefined ? undefined : readLayer(layer, project).values.labels;
  const merged = mergeOver(below, config[`${project.name}:labels`]) ?? {};
  const { value, issues } = check(StackLabels, merged, ["labels"]);
  if (value !== undefined) return value;
  const file = stackFileName(stack);
  throw invalidFile(below === undefined ? file : `${file} over layers/${layer}.yaml`, issues);
}
