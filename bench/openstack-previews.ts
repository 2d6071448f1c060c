import { PARALLEL_OPERATIONS } from "../core/engine/parallel-operations";
import type { BenchCloud } from "./cloud";
import type { BenchContext } from "./measurement";
import { makeStack } from "./openstack-stacks";
import type { Row } from "./results";
import { BenchStack } from "./stack";
import { pairedRatio, summarise } from "./statistics";

const PREVIEWS = 5;

/**
 * Previews without changes of many servers, in turn with those of an empty program: less no preview takes. The servers
 * stay for the cloud's end, since a hundred take minutes to be deleted.
 */
export async function measurePreviews(
  context: BenchContext,
  cloud: BenchCloud,
  servers: number,
): Promise<Row[]> {
  const stack = await makeStack(cloud, "foresail", servers);
  const empty = await BenchStack.ofEmptyProgram(cloud.toolchain);
  const seconds: Record<"empty" | "foresail", number[]> = { empty: [], foresail: [] };
  try {
    await context.report.step(`${servers} servers`, () => stack.up({ parallel: PARALLEL_OPERATIONS }));
    await empty.up();
    // once for the file caches
    await stack.preview();
    for (let round = 0; round < (context.rounds ?? PREVIEWS); round++) {
      context.load.note();
      seconds.empty.push((await empty.preview()).seconds);
      seconds.foresail.push((await stack.preview()).seconds);
      context.say(
        `preview of ${servers}: ${seconds.foresail.at(-1)?.toFixed(2)} s; of an empty program ${seconds.empty.at(-1)?.toFixed(2)} s`,
      );
    }
  } finally {
    stack.delete();
    empty.delete();
  }
  return [
    { what: "preview of an empty program", unit: "s", figure: summarise(seconds.empty) },
    {
      what: `preview without changes, foresail, ${servers} servers`,
      unit: "s",
      figure: summarise(seconds.foresail),
      ratio: { figure: pairedRatio(seconds.empty, seconds.foresail), to: "the empty program" },
    },
  ];
}
