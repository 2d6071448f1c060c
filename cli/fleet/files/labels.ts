import { check } from "../../../lib/validation/check";
import { StackLabels } from "../../../lib/layers/stack-labels";
import type { Project } from "../../engine/pulumi";
import { type Fleet, stacksOf } from "../plan/fleet";
import type { LabelsOfStacks } from "../plan/selection";
import { type Regions, regionsOf } from "../plan/temporal";
import { readMerged } from "./stack-files";
import { fleetFileName, invalidFile } from "./yaml-file";

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
 * @param file the fleet's file, as the command line gives it
 * @throws Error with each stack that has none
 */
export function readRegions(project: Project, fleet: Pick<Fleet, "waves">, file?: string): Regions {
  const { regions, issues } = regionsOf(fleet, readLabels(project, stacksOf(fleet)));
  if (issues.length > 0) throw invalidFile(fleetFileName(file), issues);
  return regions;
}

function labelsOf(project: Project, stack: string): Record<string, string> {
  const { value: merged, files } = readMerged(project, stack, "labels");
  const { value, issues } = check(StackLabels, merged ?? {}, ["labels"]);
  if (value !== undefined) return value;
  throw invalidFile(files, issues);
}
