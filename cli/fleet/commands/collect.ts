import path from "node:path";
import { z } from "zod";
import { parseJson } from "../../../lib/json";
import { listed, quoted } from "../../../lib/text/quote";
import { EXIT, UsageError } from "../../terminal/exit-codes";
import { writePrivately } from "../../engine/private-file";
import { findProject } from "../../engine/pulumi";
import { print } from "../../terminal/terminal";
import { loadFleetOfFiles, planFile, readIfThere } from "../files/load";
import { type Fleet, stacksOf } from "../plan/fleet";
import { hasFailed, headline, REVIEW_FORMAT, type StackReview, writable } from "../plan/review";
import { beginPlans, reviewOfFiles } from "./preview";
import { writeReview } from "../review/review";

export interface FleetCollectOptions {
  readonly file?: string;
  /** The folder with the previews. */
  readonly folder: string;
  /** The stacks as a JSON list. */
  readonly stacks: string;
  /** The folder for the plans. */
  readonly savePlan: string;
}

const NOTHING_LEFT = "its preview job left no result; its log says why";

/** Puts the previews of several jobs together as one of a fleet. A stack without a result counts as failed. */
export async function fleetCollect(
  { file, folder, stacks, savePlan }: FleetCollectOptions,
  say = print,
): Promise<number> {
  const names = z.array(z.string()).safeParse(parseJson(stacks)).data;
  if (names === undefined) throw new UsageError('--stacks is not a JSON list of texts, such as ["prod-eu1"]');
  const project = await findProject();
  const fleet = onlyStacks(await loadFleetOfFiles(project, file), names);
  const found: Record<string, StackReview> = {};
  await beginPlans(savePlan, stacksOf(fleet));
  for (const stack of stacksOf(fleet)) {
    const read = (name: string) => readIfThere(path.join(folder, `review-${stack}`, name));
    const [json, plan] = [await read("preview.json"), await read("plan.json")];
    const review = reviewOfFiles(json, plan, [NOTHING_LEFT]);
    if (!hasFailed(review) && plan !== undefined) await writePrivately(planFile(savePlan, stack), plan);
    found[stack] = review;
  }
  const review = {
    project: project.name,
    previewedAt: new Date().toISOString(),
    fleet: writable(fleet),
    stacks: found,
  };
  await writeReview(savePlan, review);
  say(headline({ formatVersion: REVIEW_FORMAT, ...review }));
  return EXIT.done;
}

/** Returns the waves with these stacks alone. @throws UsageError for a stack of no wave */
function onlyStacks(fleet: Fleet, names: readonly string[]): Fleet {
  const all = stacksOf(fleet);
  const other = names.find((name) => !all.includes(name));
  if (other !== undefined)
    throw new UsageError(`--stacks: ${quoted(other)} is in no wave; there are ${listed(all)}`);
  const waves = fleet.waves.map((wave) => ({
    ...wave,
    stacks: wave.stacks.filter((stack) => names.includes(stack)),
  }));
  return { ...fleet, waves: waves.filter((wave) => wave.stacks.length > 0) };
}
