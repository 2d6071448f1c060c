import type { Cost } from "../cost";
import { growthRows } from "../growth-rows";
import type { BenchContext, Measurement } from "../measurement";
import { MemoryWatch, PARTS, type Part } from "../process-memory";
import type { Row } from "../results";
import { Simulation } from "../simulation";
import { BenchStack } from "../stack";

const SIZES = [100, 500];
const ROUNDS = 3;

const RUNS = ["first `up`", "preview without changes", "`up` that adds one"] as const;
type Run = (typeof RUNS)[number];

interface RunCost extends Cost {
  readonly memory: ReadonlyMap<Part, number>;
}

/** Costs of the runs of one cluster; it is created once. */
interface Point {
  readonly size: number;
  readonly state: number;
  readonly costs: Readonly<Record<Run, readonly RunCost[]>>;
}

/** What one stack costs as the number of its machines grows. */
export const growth: Measurement = {
  name: "growth",
  title: "Growth to large clusters",
  summary: `at ${SIZES.join(" and ")} machines: first up, preview, adding one; duration, memory and state`,
  async measure(context) {
    const points: Point[] = [];
    for (const size of SIZES) points.push(await measureSize(context, size));
    return {
      rows: [
        ...RUNS.flatMap((run) => rowsOf(points, run)),
        ...growthRows(
          "state",
          "kB",
          points.map(({ size, state }) => ({ size, costs: [state] })),
        ),
      ],
      notes: [
        "Simulated SSH hosts in front of a real API server, on the same processors: their part grows with the machines, too.",
        `Growth is the exponent between ${SIZES.join(" and ")} machines: 1 is linear, 0 is none.`,
        "Memory is the peak of a process's resident memory as the kernel counts it.",
      ],
    };
  },
};

async function measureSize(
  { toolchain, report, load, say, rounds = ROUNDS }: BenchContext,
  size: number,
): Promise<Point> {
  const simulation = await Simulation.start(size - 1 + rounds);
  const stack = await BenchStack.ofForesail(toolchain, simulation.content(size)).catch(
    async (error: unknown) => {
      await simulation.stop();
      throw error;
    },
  );
  const costs: Record<Run, RunCost[]> = {
    "first `up`": [],
    "preview without changes": [],
    "`up` that adds one": [],
  };
  const measure = async (run: Run, work: () => Promise<Cost>) => {
    await load.settle();
    const watch = new MemoryWatch();
    const cost = await work().finally(() => watch.stop());
    costs[run].push({ ...cost, memory: watch.stop() });
    say(
      `${size} machines, ${run}: ${cost.seconds.toFixed(1)} s (${cost.processorSeconds.toFixed(1)} s of processors)`,
    );
  };
  try {
    await report.step(`${size} simulated machines`, () => measure("first `up`", () => stack.up()));
    const state = stack.stateSize();
    // once for the file caches
    await stack.preview();
    for (let round = 0; round < rounds; round++)
      await measure("preview without changes", () => stack.preview());
    for (let round = 1; round <= rounds; round++) {
      await stack.configure(simulation.content(size + round));
      await measure("`up` that adds one", () => stack.up());
    }
    return { size, state, costs };
  } finally {
    stack.delete();
    await simulation.stop();
  }
}

/** Returns the rows of one kind of run: wall time, processor time, and the memory of each part. */
function rowsOf(points: readonly Point[], run: Run): Row[] {
  const rows = (what: string, unit: "s" | "MB", cost: (cost: RunCost) => number) =>
    growthRows(
      `${run}, ${what}`,
      unit,
      points.map(({ size, costs }) => ({ size, costs: costs[run].map(cost) })),
    );
  return [
    ...rows("wall time", "s", ({ seconds }) => seconds),
    ...rows("processor time", "s", ({ processorSeconds }) => processorSeconds),
    ...PARTS.flatMap((part) => rows(`memory of the ${part}`, "MB", ({ memory }) => memory.get(part) ?? 0)),
  ];
}
