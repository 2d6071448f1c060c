import { FleetStacks } from "../fleet-stacks";
import type { BenchContext, Measurement } from "../measurement";
import { ratioTo, type Row } from "../results";
import { summarize } from "../statistics";

/** Sizes of a fleet, and how often each is previewed. */
const ROUNDS: readonly (readonly [stacks: number, rounds: number])[] = [
  [1, 5],
  [10, 3],
];
const NOTES = [
  "The same stacks as above. The Temporal server for development, one worker and the command run on this machine.",
  "A stack's overhead is the difference between both runs of a pair, divided by the number of stacks. It has the engine's start by the worker, the message with the plan, and the calls to the server.",
];

/** Previews of stacks without changes by a worker, against processes of the command. */
export const temporal: Measurement = {
  name: "fleet-temporal",
  title: "Many stacks through a Temporal server",
  summary: "previews of 1 and 10 stacks by a worker, against the local runner",
  async measure(context) {
    const most = Math.max(...ROUNDS.map(([stacks]) => stacks));
    return FleetStacks.using(context, most, async (stacks) => {
      await stacks.startTemporal();
      // once for the file caches
      await stacks.preview("temporal", 1);
      const rows: Row[] = [];
      for (const [count, rounds] of ROUNDS)
        rows.push(...(await measureSize(context, stacks, count, context.rounds ?? rounds)));
      return { rows, notes: NOTES };
    });
  },
};

async function measureSize(
  { load, say }: BenchContext,
  stacks: FleetStacks,
  count: number,
  rounds: number,
): Promise<Row[]> {
  const seconds: Record<"fleet" | "temporal", number[]> = { fleet: [], temporal: [] };
  for (let round = 0; round < rounds; round++) {
    await load.settle();
    // in turn first, because the later one finds warmer file caches
    const order = round % 2 === 0 ? (["fleet", "temporal"] as const) : (["temporal", "fleet"] as const);
    for (const way of order) {
      const cost = await stacks.preview(way, count);
      seconds[way].push(cost.seconds);
      say(`${count}, ${way}: ${cost.seconds.toFixed(1)} s`);
    }
  }
  const overheads = seconds.temporal.map((each, index) => (each - (seconds.fleet[index] ?? each)) / count);
  return [
    {
      what: `${count}: \`foresail fleet preview\`, wall time`,
      unit: "s",
      figure: summarize(seconds.fleet),
    },
    {
      what: `${count}: the same with \`--runner temporal\`, wall time`,
      unit: "s",
      figure: summarize(seconds.temporal),
      ratio: ratioTo("the local runner", seconds.fleet, seconds.temporal),
    },
    { what: `${count}: Temporal's overhead for each stack`, unit: "s", figure: summarize(overheads) },
  ];
}
