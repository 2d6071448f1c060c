import { FleetStacks, type FleetCost, PARALLEL, type Way as AnyWay } from "../fleet-stacks";
import type { BenchContext, Measurement } from "../measurement";
import { ratioTo, type Row } from "../results";
import { summarize } from "../statistics";

/** Sizes of a fleet, and how often each is previewed. */
const ROUNDS: readonly (readonly [stacks: number, rounds: number])[] = [
  [1, 5],
  [10, 3],
  [50, 1],
];
type Way = Exclude<AnyWay, "temporal">;
const ORDER: readonly Way[] = ["loop", "xargs", "fleet"];
const TITLES: Readonly<Record<Way, string>> = {
  loop: "a shell loop of `pulumi preview`",
  xargs: `\`xargs -P ${PARALLEL} pulumi preview\``,
  fleet: "`foresail fleet preview`",
};
/** At 10 stacks, against the loop. */
const LEAST_RATIO = { stacks: 10, words: "≤ 0.5 ×", most: 0.5 };
/** 40 stacks in 90 s. */
const PER_STACK = { stacks: 50, words: "40 stacks in ≤ 90 s", most: 90 / 40 };
/** Memory goes by `maxParallel`, and does not grow with the number of stacks. */
const MEMORY = { words: "≤ 1.1 × that of 10", most: 1.1 };
const NOTES = [
  "Stacks of one control plane and one worker, on simulated SSH hosts in front of one real API server; the states are copies of one.",
  "The loop and `xargs` run `pulumi preview` as a person types it; `foresail fleet preview` also writes a plan for each stack, and shows the changes of all.",
  "Processor time is that of all processes; it says more than wall time on a busy machine. Memory is the resident memory of all processes together at its peak; what they share counts for each.",
];

type Costs = Record<Way, FleetCost[]>;

/** Previews of many stacks without changes. */
export const fleet: Measurement = {
  name: "fleet",
  title: "Many stacks without changes",
  summary: "previews of 1, 10 and 50 stacks, against a shell loop and xargs -P 2",
  async measure(context) {
    const most = Math.max(...ROUNDS.map(([stacks]) => stacks));
    return FleetStacks.using(context, most, async (stacks) => {
      // once for the file caches
      await stacks.preview("fleet", 1);
      const rows: Row[] = [];
      let bounded = 0;
      for (const [count, rounds] of ROUNDS) {
        const costs = await measureSize(context, stacks, count, context.rounds ?? rounds);
        rows.push(...rowsOf(count, costs, bounded));
        if (count === LEAST_RATIO.stacks) bounded = summarize(costs.fleet.map(({ peak }) => peak)).median;
      }
      return { rows, notes: NOTES };
    });
  },
};

async function measureSize(
  { load, say }: BenchContext,
  stacks: FleetStacks,
  count: number,
  rounds: number,
): Promise<Costs> {
  const costs: Costs = { loop: [], xargs: [], fleet: [] };
  for (let round = 0; round < rounds; round++) {
    await load.settle();
    // in turn first, because later ones find warmer file caches
    for (let index = 0; index < ORDER.length; index++) {
      const way = ORDER[(round + index) % ORDER.length] ?? "fleet";
      const cost = await stacks.preview(way, count);
      costs[way].push(cost);
      const { seconds, processorSeconds, peak } = cost;
      say(
        `${count}, ${way}: ${seconds.toFixed(1)} s (${processorSeconds.toFixed(1)} s of processors), ${peak.toFixed(0)} MB`,
      );
    }
  }
  return costs;
}

/** @param bounded the peak memory of the fleet of ten in MB; 0 before it is known */
function rowsOf(count: number, costs: Costs, bounded: number): Row[] {
  const of = (way: Way, field: keyof FleetCost) => costs[way].map((cost) => cost[field]);
  const toLoop = (field: keyof FleetCost) => ratioTo("the loop", of("loop", field), of("fleet", field));
  const rows: Row[] = ORDER.map((way) => ({
    what: `${count}: ${TITLES[way]}, wall time`,
    unit: "s",
    figure: summarize(of(way, "seconds")),
  }));
  for (const way of ORDER)
    rows.push({
      what: `${count}: ${TITLES[way]}, processor time`,
      unit: "s",
      figure: summarize(of(way, "processorSeconds")),
      ...(way === "fleet" && { ratio: toLoop("processorSeconds") }),
    });
  for (const way of ORDER)
    rows.push({ what: `${count}: ${TITLES[way]}, memory`, unit: "MB", figure: summarize(of(way, "peak")) });
  const [wall, memory] = [rows[2], rows.at(-1)];
  if (wall === undefined || memory === undefined) return rows;
  const ratio = toLoop("seconds");
  rows[2] = { ...wall, ratio, ...wantedTime(count, wall, ratio.figure.median) };
  if (count === PER_STACK.stacks && bounded > 0)
    rows[rows.length - 1] = {
      ...memory,
      wanted: { words: MEMORY.words, reached: memory.figure.median <= bounded * MEMORY.most },
    };
  return rows;
}

function wantedTime(count: number, { figure }: Row, ratio: number): Pick<Row, "wanted"> {
  if (count === LEAST_RATIO.stacks)
    return { wanted: { words: LEAST_RATIO.words, reached: ratio <= LEAST_RATIO.most } };
  if (count !== PER_STACK.stacks) return {};
  return { wanted: { words: PER_STACK.words, reached: figure.median / count <= PER_STACK.most } };
}
