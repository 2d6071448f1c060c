import { PARALLEL_OPERATIONS } from "../../cli/engine/pulumi";
import { withBenchCloud, type BenchCloud } from "../cloud";
import type { BenchContext, Measurement } from "../measurement";
import { makeStack } from "../openstack-stacks";
import { ratioTo, type Row } from "../results";
import { BenchStack } from "../stack";
import { summarize } from "../statistics";

const SERVERS = 100;
const PREVIEWS = 5;

/** A preview without changes of many OpenStack servers. */
export const openstackPreview: Measurement = {
  name: "openstack-preview",
  title: "Previews of OpenStack servers",
  summary: `a preview without changes of ${SERVERS} servers, against an empty program`,
  async measure(context) {
    const measure = (cloud: BenchCloud) => measurePreviews(context, cloud, SERVERS);
    return { rows: await withBenchCloud(context, measure), notes: NOTES };
  },
};

const NOTES = [
  "A real OpenStack without hypervisors: its servers are rows in nova's database. It runs on the same processors as what is measured.",
];

/**
 * Alternates with an empty program, which is the minimum of any preview. The servers are deleted with the cloud,
 * because deleting a hundred takes minutes.
 */
async function measurePreviews(context: BenchContext, cloud: BenchCloud, servers: number): Promise<Row[]> {
  const stack = await makeStack(cloud, "foresail", servers);
  const empty = await BenchStack.ofEmptyProgram(cloud.toolchain);
  const seconds: Record<"empty" | "foresail", number[]> = { empty: [], foresail: [] };
  try {
    await context.report.step(`${servers} servers`, () => stack.up({ parallel: PARALLEL_OPERATIONS }));
    await empty.up();
    // once for the file caches
    await stack.preview();
    for (let round = 0; round < (context.rounds ?? PREVIEWS); round++) {
      await context.load.settle();
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
    { what: "preview of an empty program", unit: "s", figure: summarize(seconds.empty) },
    {
      what: `preview without changes, foresail, ${servers} servers`,
      unit: "s",
      figure: summarize(seconds.foresail),
      ratio: ratioTo("the empty program", seconds.empty, seconds.foresail),
    },
  ];
}
