import { mkdir } from "node:fs/promises";
import path from "node:path";
import { messageOf } from "../../../lib/error-message";
import { plural } from "../../../lib/text/plural";
import { exportedResources } from "../../commands/destroy-stack";
import { EXIT, UsageError } from "../../terminal/exit-codes";
import { writePrivately } from "../../engine/private-file";
import { findProject, type Project } from "../../engine/pulumi";
import { askText, print } from "../../terminal/terminal";
import { forEachStack } from "../run/each-stack";
import { loadFleet, planFile } from "../files/load";
import {
  destroyDetails,
  destroyWords,
  isRefused,
  planDestroy,
  reversed,
  type StackDestroy,
} from "../plan/destroy";
import { type Fleet, stacksOf } from "../plan/fleet";
import { fleetFolder, lockFleet, readRun, reviewId } from "../run/run-file";
import { refuseWhileRunning, runStacks } from "../run/run-stacks";
import { fleetTable } from "../run/table";

export interface FleetDestroyOptions {
  readonly file?: string;
  /** The name of the fleet, typed on the command line. */
  readonly confirm?: string;
}

/**
 * Destroys all stacks of a fleet, the last wave first: shows what goes and what stays, asks for the fleet's name, and
 * stops at a failure. What is done is gone from the states, so the same command does the rest.
 *
 * @returns the exit code
 */
export async function fleetDestroy({ file, confirm }: FleetDestroyOptions, say = print): Promise<number> {
  const project = await findProject();
  const fleet = reversed(await loadFleet(project, file));
  const name = fleet.name ?? project.name;
  if (confirm !== undefined && confirm !== name)
    throw new UsageError(`--confirm ${confirm}: the fleet's name is ${name}; nothing was changed`);
  const unlock = await lockFleet(project);
  try {
    refuseWhileRunning(await readRun(project));
    const seen = await showAll(project, fleet, say);
    if (typeof seen === "number") return seen;
    if (confirm === undefined) {
      const answer = await askText(`Destroy the fleet? Type its name, ${name}: `);
      if (answer !== name) {
        say(
          `nothing was changed${answer === undefined ? `: without a terminal, give --confirm ${name}` : ""}`,
        );
        return answer === undefined ? EXIT.usage : EXIT.declined;
      }
    }
    return await destroyStacks(project, fleet, seen, say);
  } finally {
    await unlock();
  }
}

/** Prints what a destroy does with every stack. @returns it by stack; an exit code when nothing may run */
async function showAll(
  project: Project,
  fleet: Fleet,
  say: (line: string) => void,
): Promise<ReadonlyMap<string, StackDestroy> | number> {
  const seen = new Map<string, StackDestroy>();
  const details = new Map<string, readonly string[]>();
  const end = await forEachStack(fleet, async (stack) => {
    try {
      const resources = await exportedResources(project, stack);
      seen.set(stack, planDestroy(resources));
      details.set(stack, destroyDetails(resources));
      return true;
    } catch (error) {
      details.set(stack, messageOf(error).split("\n"));
      return false;
    }
  });
  for (const stack of stacksOf(fleet)) {
    const lines = details.get(stack) ?? [];
    if (lines.length > 0) say([`${stack}:`, ...lines].join("\n    "));
  }
  const words = (stack: StackDestroy | undefined) => (stack === undefined ? "not read" : destroyWords(stack));
  for (const line of fleetTable(fleet, "DESTROY", (stack) => words(seen.get(stack)))) say(line);
  const isProtected = [...seen.values()].some(isRefused);
  if (end === "done" && !isProtected) return seen;
  say("nothing was changed");
  return end === "done" ? EXIT.failed : EXIT[end];
}

async function destroyStacks(
  project: Project,
  fleet: Fleet,
  seen: ReadonlyMap<string, StackDestroy>,
  say: (line: string) => void,
): Promise<number> {
  const plans = path.join(fleetFolder(project), "destroys");
  await mkdir(plans, { recursive: true, mode: 0o700 });
  for (const [stack, ends] of seen)
    await writePrivately(planFile(plans, stack), `${JSON.stringify(ends, undefined, 2)}\n`);
  const empty = [...seen].flatMap(([stack, ends]) => (Object.keys(ends).length === 0 ? [stack] : []));
  const left = seen.size - empty.length;
  say(left === 0 ? "nothing is left to destroy" : `destroying ${plural(left, "stack")}, the last wave first`);
  return runStacks({
    project,
    fleet,
    say,
    again: "foresail fleet destroy",
    run: {
      startedAt: new Date().toISOString(),
      // no run of `fleet up` can be continued after this one
      review: reviewId(["destroy", fleet.waves], [JSON.stringify([...seen])]),
      plans,
      gates: {},
      processes: {},
      stacks: Object.fromEntries(empty.map((stack) => [stack, "done"])),
    },
    argumentsOf: (stack) => ["destroy-stack", "--stack", stack, "--plan", planFile(plans, stack)],
    gate: () => Promise.resolve("passed"),
  });
}
