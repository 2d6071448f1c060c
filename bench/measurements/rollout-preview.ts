import type { BenchContext, Measurement } from "../measurement";
import type { Row } from "../results";
import { Simulation } from "../simulation";
import { BenchStack } from "../stack";
import { summarize } from "../statistics";

const FROM = "1.35.4";
const TO = "1.36.3";
const SIZES = [
  { machines: 5, seconds: 4 },
  { machines: 100, seconds: 8, requests: 8 },
] as const;
const ROUNDS = 9;

/** A preview of another version, which lists every node of the running cluster. */
export const rolloutPreview: Measurement = {
  name: "rollout-preview",
  title: "A preview of a rollout",
  summary: `${FROM} → ${TO} of ${SIZES.map(({ machines }) => machines).join(" and ")} machines, by the engine, and its API requests`,
  async measure(context) {
    const rows: Row[] = [];
    for (const size of SIZES) rows.push(...(await measureSize(context, size)));
    return {
      rows,
      notes: [
        "`pulumi preview --diff` of simulated machines, one of them the control plane, in front of a real API server, which is asked for its Nodes. " +
          "The rest are workers of one pool. Each preview lists every node.",
        "Requests are all that reached the API server as foresail's in one preview of the whole stack, by its audit log.",
      ],
    };
  },
};

async function measureSize(
  { toolchain, report, load, say, rounds = ROUNDS }: BenchContext,
  size: (typeof SIZES)[number],
): Promise<Row[]> {
  const { machines } = size;
  const simulation = await Simulation.start(machines - 1, { version: FROM, audited: true });
  const stack = await BenchStack.ofForesail(toolchain, simulation.content(machines, FROM)).catch(
    async (error: unknown) => {
      await simulation.stop();
      throw error;
    },
  );
  try {
    await report.step(`a cluster of ${machines} simulated machines`, () => stack.up());
    await simulation.noteClusterVersion(FROM);
    await stack.configure(simulation.content(machines, TO));
    // once for the file caches
    await stack.previewDiff();
    const seconds: number[] = [];
    const requests: number[] = [];
    for (let round = 0; round < rounds; round++) {
      await load.settle();
      const before = simulation.requests();
      const { text, cost } = await stack.previewDiff();
      const steps = text.split("\n").filter((line) => line.includes(`${FROM} → ${TO} (`)).length;
      if (steps < machines) throw new Error(`the preview lists ${steps} of ${machines} machines:\n${text}`);
      seconds.push(cost.seconds);
      requests.push(simulation.requests() - before);
      say(`${machines} machines: ${cost.seconds.toFixed(2)} s, ${requests.at(-1)} requests`);
    }
    return rowsOf(size, seconds, requests);
  } finally {
    stack.delete();
    await simulation.stop();
  }
}

function rowsOf(size: (typeof SIZES)[number], seconds: number[], requests: number[]): Row[] {
  const [time, asked] = [summarize(seconds), summarize(requests)];
  const most = "requests" in size ? size.requests : undefined;
  return [
    {
      what: `preview, ${size.machines} machines`,
      unit: "s",
      figure: time,
      wanted: { words: `≤ ${size.seconds} s`, reached: time.median <= size.seconds },
    },
    {
      what: `API requests, ${size.machines} machines`,
      unit: "",
      figure: asked,
      ...(most !== undefined && { wanted: { words: `≤ ${most}`, reached: asked.most <= most } }),
    },
  ];
}
