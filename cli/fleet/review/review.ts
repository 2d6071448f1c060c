import { createHash } from "node:crypto";
import path from "node:path";
import { readGivenFile } from "../../../lib/files";
import { parseJson } from "../../../lib/json";
import { parseUrn } from "../../../lib/pulumi/state";
import { resourceMessage } from "../../../lib/steps/steps";
import { nodeRolloutSteps } from "../../../providers/kubeadm/plan/steps";
import { writePrivately } from "../../engine/private-file";
import { findDangers } from "../../review/dangers";
import { parsePreview, readPreview } from "../../review/preview";
import { countSteps, readStep, type ResourceChange } from "../../review/steps";
import { planFile, readIfThere } from "../files/load";
import { stacksOf } from "../plan/fleet";
import { FleetReview, REVIEW_FORMAT, type StackReview } from "../plan/review";
import { topologyOf } from "../plan/topology";

/** A name that no stack's plan has, since a plan's name is encoded. */
const reviewFile = (folder: string) => path.join(folder, "@fleet.json");

const PREVIEW_AGAIN = "preview again: foresail fleet preview --save-plan FOLDER";

/** Returns what identifies a plan for those who review it. */
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/**
 * Returns what the preview of a stack found.
 *
 * @param json what `foresail preview --json` wrote
 * @param plan the text of its plan; undefined when the preview failed
 */
export function stackReview(json: string, plan: string | undefined): StackReview {
  const preview = readPreview(json);
  const resources = parsePreview(json).steps.map(({ urn, oldState, newState }) => ({
    type: parseUrn(urn).type,
    ...(oldState?.inputs && { before: oldState.inputs }),
    ...(newState?.inputs && { after: newState.inputs }),
  }));
  const { system, version, machines, counts } = topologyOf(resources);
  const stepsOf = (machine: string) => preview.changes.flatMap((change) => stepsAbout(machine, change));
  const { diffs, notes } = splitNotes(preview.notes);
  return {
    ...(plan !== undefined && { plan: sha256(plan) }),
    system,
    version,
    unchanged: preview.unchanged,
    counts: countSteps(preview.changes),
    changes: preview.changes.map(({ type, name, operation, steps }) => ({
      type,
      name,
      operation,
      steps: [...steps],
    })),
    machines: machines.map((machine) => ({ ...machine, steps: stepsOf(machine.name) })),
    nodeCounts: [...counts],
    dangers: findDangers(preview).map(({ kind, words }) => ({ kind, words })),
    errors: [...preview.errors],
    notes,
    diffs,
  };
}

const stepsAbout = (machine: string, { type, steps }: ResourceChange) =>
  steps.filter((line) => readStep(type, line).machine === machine);

/** Separates the lines of diffs from other notes, and puts them together by the nodes that they are about. */
function splitNotes(all: readonly string[]) {
  const notes: string[] = [];
  const lines: { at: number; text: string }[] = [];
  for (const note of all) {
    const step = nodeRolloutSteps.parse(resourceMessage.parse(note)?.line ?? "");
    if (step?.kind === "diff") lines.push(step);
    else notes.push(note);
  }
  lines.sort((one, other) => one.at - other.at);
  const diffs: StackReview["diffs"] = [];
  for (const { text } of lines) {
    const line = text.replace(/^ /, "");
    // lines of a diff begin with a blank or a sign; the nodes are named before the first file
    const isTitle = /^[A-Za-z0-9]/.test(line);
    if (isTitle || diffs.length === 0)
      diffs.push({ nodes: isTitle ? line.replace(/:$/, "") : "", lines: [] });
    if (!isTitle) diffs.at(-1)?.lines.push(line);
  }
  return { diffs, notes };
}

/** Writes what a preview found beside the plans. */
export function writeReview(folder: string, review: Omit<FleetReview, "formatVersion">): Promise<void> {
  return writePrivately(
    reviewFile(folder),
    `${JSON.stringify({ formatVersion: REVIEW_FORMAT, ...review }, undefined, 2)}\n`,
  );
}

/**
 * Reads what a preview found, and checks that it is about the plans beside it.
 *
 * @throws Error that says what to do
 */
export async function readReview(folder: string): Promise<FleetReview> {
  const file = reviewFile(folder);
  const review = FleetReview.safeParse(
    parseJson(await readGivenFile(file, "the preview", PREVIEW_AGAIN)),
  ).data;
  if (review === undefined)
    throw new Error(`${file} is damaged, or another release of foresail wrote it; ${PREVIEW_AGAIN}`);
  for (const stack of stacksOf(review.fleet)) {
    const found = review.stacks[stack]?.plan;
    if (found === undefined) continue;
    const plan = await readIfThere(planFile(folder, stack));
    if (plan === undefined || sha256(plan) !== found)
      throw new Error(`the plan of ${stack} in ${folder} is not the one of this preview; ${PREVIEW_AGAIN}`);
  }
  return review;
}

/** Returns what a preview found; undefined for plans without it, such as those of an earlier release. */
export const readReviewIfThere = (folder: string): Promise<FleetReview | undefined> =>
  readReview(folder).catch(() => undefined);
