import { PARALLEL_OPERATIONS } from "../core/engine/parallel-operations";
import type { BenchCloud } from "./cloud";
import type { Cost } from "./cost";
import type { BenchContext } from "./measurement";
import { inTurn, makeStack, NAMES, type Who } from "./openstack-stacks";
import type { Row } from "./results";
import { pairedRatio, summarise } from "./statistics";

const PREVIEWS = 5;

/** Previews without changes of many servers, of both programs in turn. */
export async function comparePreviews(
  context: BenchContext,
  cloud: BenchCloud,
  servers: number,
): Promise<Row[]> {
  const stacks = {
    floor: await makeStack(cloud, "floor", servers),
    foresail: await makeStack(cloud, "foresail", servers),
  };
  const costs: Record<Who, Cost[]> = { floor: [], foresail: [] };
  try {
    for (const who of inTurn(0)) {
      await context.report.step(`${servers} servers, ${NAMES[who]}`, () =>
        stacks[who].up({ parallel: PARALLEL_OPERATIONS }),
      );
      // once for the file caches
      await stacks[who].preview();
    }
    for (let round = 0; round < (context.rounds ?? PREVIEWS); round++) {
      context.load.note();
      for (const who of inTurn(round)) costs[who].push(await stacks[who].preview());
      context.say(
        `preview of ${servers}: bare program ${costs.floor.at(-1)?.seconds.toFixed(2)} s, ` +
          `foresail ${costs.foresail.at(-1)?.seconds.toFixed(2)} s`,
      );
    }
  } finally {
    await cloud.clear();
    stacks.floor.delete();
    stacks.foresail.delete();
  }
  const seconds = (who: Who) => costs[who].map((cost) => cost.seconds);
  return [
    {
      what: `preview without changes, bare program, ${servers} servers`,
      unit: "s",
      figure: summarise(seconds("floor")),
    },
    {
      what: `preview without changes, foresail, ${servers} servers`,
      unit: "s",
      figure: summarise(seconds("foresail")),
      ratio: { figure: pairedRatio(seconds("floor"), seconds("foresail")), to: "the bare program" },
    },
  ];
}
