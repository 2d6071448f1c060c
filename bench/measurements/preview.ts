import type { Cost } from "../cost";
import type { Measurement } from "../measurement";
import { ratioTo, type Row } from "../results";
import { Simulation } from "../simulation";
import { BenchStack } from "../stack";
import { summarize } from "../statistics";

const PAIRS = 9;
const MOST = 1.3;
const NOTES = [
  "Machines are simulated SSH hosts in front of a real API server, which each preview asks for its Nodes.",
  "The `up` of the empty program changes nothing: it is the engine's own part of every `up`, whatever the program does.",
  "The engine runs as foresail starts it (sandbox/engine-environment.ts); the empty program gets none of that but `typescript: false`.",
];

/** A preview without changes against the engine's own cost of a preview. */
export const preview: Measurement = {
  name: "preview",
  title: "A preview without changes",
  summary: "of one control plane and one worker, against an empty Pulumi program",
  async measure({ toolchain, load, say, rounds = PAIRS }) {
    const simulation = await Simulation.start(1);
    const foresail = await BenchStack.ofForesail(toolchain, simulation.content(2));
    const empty = await BenchStack.ofEmptyProgram(toolchain);
    try {
      await foresail.up();
      await empty.up();
      // once for the file caches
      await foresail.preview();
      await empty.preview();
      const costs = { foresail: [] as Cost[], empty: [] as Cost[] };
      const ups: number[] = [];
      for (let pair = 0; pair < rounds; pair++) {
        await load.settle();
        // alternately, because the second one finds warmer file caches
        const order = pair % 2 === 0 ? (["empty", "foresail"] as const) : (["foresail", "empty"] as const);
        for (const which of order) costs[which].push(await { empty, foresail }[which].preview());
        ups.push((await empty.up()).seconds);
        say(`empty ${sayCost(costs.empty.at(-1))}; foresail ${sayCost(costs.foresail.at(-1))}`);
      }
      return {
        rows: [
          ...rowsOf("wall time", "seconds", costs),
          ...rowsOf("processor time", "processorSeconds", costs),
          { what: "`pulumi up` of the empty program, wall time", unit: "s", figure: summarize(ups) },
        ],
        notes: NOTES,
      };
    } finally {
      foresail.delete();
      empty.delete();
      await simulation.stop();
    }
  },
};

function sayCost(cost?: Cost): string {
  return cost ? `${cost.seconds.toFixed(2)} s (${cost.processorSeconds.toFixed(2)} s of processors)` : "";
}

function rowsOf(what: string, field: keyof Cost, costs: { foresail: Cost[]; empty: Cost[] }): Row[] {
  const [empty, foresail] = [costs.empty, costs.foresail].map((list) => list.map((cost) => cost[field]));
  if (!empty || !foresail) return [];
  const ratio = ratioTo("the empty program", empty, foresail);
  return [
    { what: `empty program in plain JavaScript, ${what}`, unit: "s", figure: summarize(empty) },
    {
      what: `foresail, 1+1, ${what}`,
      unit: "s",
      figure: summarize(foresail),
      ratio,
      ...(field === "seconds" && { wanted: { words: `≤ ${MOST} ×`, reached: ratio.figure.median <= MOST } }),
    },
  ];
}
