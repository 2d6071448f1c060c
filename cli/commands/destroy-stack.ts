import { z } from "zod";
import { readGivenFile } from "../../lib/files";
import { parseJson } from "../../lib/json";
import { cutList } from "../../lib/text/quote";
import { CommandError } from "../terminal/exit-codes";
import { type ExportedResource, planDestroy, type StackDestroy, unseenEnds } from "../fleet/plan/destroy";
import { clearKilledRuns } from "../engine/killed-runs";
import { callPulumiJson, findProject, type Project } from "../engine/pulumi";
import { runDestroy } from "../engine/run-destroy";
import { print } from "../terminal/terminal";

export interface DestroyStackOptions {
  readonly stack: string;
  /** The file with what a person saw of this destroy. */
  readonly plan: string;
}

const Seen = z.record(z.string(), z.enum(["delete", "reset", "release", "forget", "keep", "refuse"]));

/** Returns the resources in the state of a stack. */
export async function exportedResources(project: Project, stack: string): Promise<ExportedResource[]> {
  const { deployment } = (await callPulumiJson({
    project,
    args: ["stack", "export", "--stack", stack],
  })) as { deployment?: { resources?: ExportedResource[] } };
  return deployment?.resources ?? [];
}

/**
 * Destroys a stack for `foresail fleet destroy`, if nothing goes but what a person saw.
 *
 * @returns the exit code; `changed` when something else would go, and then nothing was touched
 */
export async function destroyStack({ stack, plan }: DestroyStackOptions, say = print): Promise<number> {
  const project = await findProject();
  const seen = Seen.safeParse(
    parseJson(await readGivenFile(plan, "what was seen", "run the fleet's destroy")),
  );
  if (!seen.success) throw new Error(`${plan} is not what \`foresail fleet destroy\` wrote`);
  for (const line of await clearKilledRuns(project, stack, "operations")) say(line);
  refuseUnseen(planDestroy(await exportedResources(project, stack)), seen.data);
  return runDestroy(project, stack);
}

function refuseUnseen(now: StackDestroy, seen: StackDestroy): void {
  const unseen = unseenEnds(now, seen);
  if (unseen.length === 0) return;
  throw new CommandError(
    "changed",
    `the stack is no longer as it was shown: ${cutList(unseen, ", ")}. Nothing was touched; run the same command, and look again`,
  );
}
