import { z } from "zod";
import { parseJson } from "../../../lib/json";
import { displayJson } from "../../../lib/text/display";
import { plural } from "../../../lib/text/plural";
import { EXIT } from "../../terminal/exit-codes";
import { findProject } from "../../engine/pulumi";
import { print } from "../../terminal/terminal";
import { readEachStack } from "../run/each-stack";
import { loadFleet, readIfThere } from "../files/load";
import { stacksOf } from "../plan/fleet";
import { driftDetails, driftEnd, driftWords, type StackDrift } from "../plan/drift";
import { logTail } from "../run/stack-process";
import { fleetTable } from "../run/table";

export interface FleetDriftOptions {
  readonly file?: string;
  readonly output: "text" | "json";
}

/** What `foresail drift --output json` prints. */
const Report = z.object({
  machines: z.array(
    z.object({
      node: z.string(),
      files: z.array(z.object({ path: z.string(), difference: z.string(), diff: z.string() })).optional(),
      unknown: z.string().optional(),
    }),
  ),
});

/** Prints for every stack what others changed on its machines; changes nothing. @returns the exit code */
export async function fleetDrift({ file, output }: FleetDriftOptions, say = print): Promise<number> {
  const project = await findProject();
  const fleet = await loadFleet(project, file);
  const isText = output === "text";
  if (isText)
    say(`reading the machines of ${plural(stacksOf(fleet).length, "stack")}, ${fleet.maxParallel} at once`);
  const { end, found } = await readEachStack<StackDrift>(project, fleet, {
    argumentsOf: (stack) => ["drift", "--stack", stack, "--output", "json"],
    read: async (_exitCode, { output, log }) => {
      // without a report the command failed, whatever its exit code
      const report = Report.safeParse(parseJson((await readIfThere(output)) ?? "")).data;
      return (report as StackDrift | undefined) ?? { failure: await logTail(log) };
    },
  });
  if (isText) {
    for (const [name, stack] of found) {
      const details = driftDetails(stack);
      if (details.length > 0) say([`${name}:`, ...details].join("\n    "));
    }
    for (const line of fleetTable(fleet, "DRIFT", (name) => wordsOf(found.get(name)))) say(line);
    const drifted = stacksOf(fleet).find((name) => isDrifted(found.get(name)));
    if (drifted !== undefined) say(`to see a stack's diffs: foresail drift --stack ${drifted}`);
  } else say(displayJson({ stacks: Object.fromEntries(found) }));
  return end === "interrupted" ? EXIT.interrupted : EXIT[driftEnd([...found.values()])];
}

const wordsOf = (stack: StackDrift | undefined) => (stack === undefined ? "not read" : driftWords(stack));
const isDrifted = (stack: StackDrift | undefined) => stack !== undefined && driftEnd([stack]) === "drifted";
