import type { Measurement } from "../measurement";
import { MemoryWatch, type Part } from "../process-memory";
import type { Row } from "../results";
import { Simulation } from "../simulation";
import { BenchStack } from "../stack";
import { growth, summarize } from "../statistics";

const SIZES = [2, 10, 100];
const PARTS: readonly Part[] = ["program", "dynamic provider", "command plugin"];
/** An exponent of 1 is linear; differences in the second digit are noise. */
const LINEAR = 1.05;

interface Point {
  readonly size: number;
  readonly state: number;
  readonly memory: ReadonlyMap<Part, number>;
}

/** Memory and state of clusters of several sizes. */
export const size: Measurement = {
  name: "size",
  title: "Memory and state",
  summary: `at ${SIZES.join(", ")} machines: peak memory of the node processes, and the state`,
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
    return {
      rows: [
        ...rowsOf("state", "kB", points, ({ state }) => state),
        ...PARTS.flatMap((part) =>
          rowsOf(`peak memory of the ${part}`, "MB", points, ({ memory }) => memory.get(part) ?? 0),
        ),
      ],
      notes: [
        "At the first `up`, on simulated SSH hosts in front of a real API server.",
        `Growth is the exponent between ${SIZES[0]} and ${SIZES.at(-1)} machines: 1 is linear, 0 is none.`,
      ],
    };
  },
};

function rowsOf(
  what: string,
  unit: Row["unit"],
  points: readonly Point[],
  cost: (point: Point) => number,
): Row[] {
  const exponent = growth(points.map((point) => ({ size: point.size, cost: cost(point) })));
  return points.map((point, index) => ({
    what: `${what}, ${point.size} machines`,
    unit,
    figure: summarize([cost(point)]),
    ...(index === points.length - 1 && {
      wanted: {
        words: `growth ≤ 1; it is ${exponent.toFixed(2)}`,
        reached: exponent <= LINEAR,
      },
    }),
  }));
}
