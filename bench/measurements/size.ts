import { growthRows } from "../growth-rows";
import type { Measurement } from "../measurement";
import { MemoryWatch, PARTS, type Part } from "../process-memory";
import { Simulation } from "../simulation";
import { BenchStack } from "../stack";

const SIZES = [2, 10, 100];

interface Point {
  readonly size: number;
  readonly state: number;
  readonly memory: ReadonlyMap<Part, number>;
}

/** Memory and state of clusters of several sizes. */
export const size: Measurement = {
  name: "size",
  title: "Memory and state",
  summary: `at ${SIZES.join(", ")} machines: peak memory of the processes, and the state`,
  async measure({ toolchain, load, say }) {
    const points: Point[] = [];
    for (const machines of SIZES) {
      const simulation = await Simulation.start(machines - 1);
      const stack = await BenchStack.ofForesail(toolchain, simulation.content(machines));
      try {
        await load.settle();
        const watch = new MemoryWatch();
        await stack.up().finally(() => watch.stop());
        points.push({ size: machines, state: stack.stateSize(), memory: watch.stop() });
        say(`${machines} machines: ${stack.stateSize().toFixed(0)} kB of state`);
      } finally {
        stack.delete();
        await simulation.stop();
      }
    }
    const rowsOf = (what: string, unit: "kB" | "MB", cost: (point: Point) => number) =>
      growthRows(
        what,
        unit,
        points.map((point) => ({ size: point.size, costs: [cost(point)] })),
      );
    return {
      rows: [
        ...rowsOf("state", "kB", ({ state }) => state),
        ...PARTS.flatMap((part) =>
          rowsOf(`peak memory of the ${part}`, "MB", ({ memory }) => memory.get(part) ?? 0),
        ),
      ],
      notes: [
        "At the first `up`, on simulated SSH hosts in front of a real API server.",
        `Growth is the exponent between ${SIZES[0]} and ${SIZES.at(-1)} machines: 1 is linear, 0 is none.`,
      ],
    };
  },
};
