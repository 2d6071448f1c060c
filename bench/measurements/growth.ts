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

/** Costs of the runs of one cluster; it is created once. */
interface Point {
  readonly size: number;
  /** kB */
  readonly state: number;
  readonly costs: Readonly<Record<Run, readonly Cost[]>>;
  /** The most that a part took in any of the runs, in MB. */
  readonly memory: ReadonlyMap<Part, number>;
}

/** What one stack costs as the number of its machines grows. */
export const growth: Measurement = {
  name: "growth",
  title: "Growth to large clusters",
  summary: `at ${SIZES.join(" and ")} machines: first up, preview, adding one; duration, memory and state`,
  async measure(context) {
    const points: Point[] = [];
    for (const size of SIZES) points.push(await measureSize(context, size));
    const rowsOf = (what: string, unit: Row["unit"], costs: (point: Point) => readonly number[]) =>
      growthRows(
        what,
        unit,
        points.map((point) => ({ size: point.size, costs: costs(point) })),
      );
    return {
      rows: [
        ...RUNS.flatMap((run) => [
          ...rowsOf(`${run}, wall time`, "s", ({ costs }) => costs[run].map(({ seconds }) => seconds)),
          ...rowsOf(`${run}, processor time`, "s", ({ costs }) =>
            costs[run].map(({ processorSeconds }) => processorSeconds),
          ),
        ]),
        ...PARTS.flatMap((part) =>
          rowsOf(`peak memory of the ${part}`, "MB", ({ memory }) => [memory.get(part) ?? 0]),
        ),
        ...rowsOf("state", "kB", ({ state }) => [state]),
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
  const memory = new Map<Part, number>();
  const costs: Record<Run, Cost[]> = {
    "first `up`": [],
    "preview without changes": [],
    "`up` that adds one": [],
  };
  const measure = async (run: Run, work: () => Promise<Cost>) => {
    await load.settle();
    const watch = new MemoryWatch();
    const cost = await work().finally(() => watch.stop());
    costs[run].push(cost);
    for (const [part, peak] of watch.stop()) memory.set(part, Math.max(peak, memory.get(part) ?? 0));
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
    return { size, state, costs, memory };
  } finally {
    stack.delete();
    await simulation.stop();
  }
}
