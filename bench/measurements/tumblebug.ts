import path from "node:path";
import type { BenchContext, Measurement } from "../measurement";
import { longestChain, ObjectTimes, secondsByKind } from "../object-waits";
import { MACHINES_VARIABLE, type DesiredMachines } from "../programs/machines";
import type { Result, Row } from "../results";
import { BenchStack } from "../stack";
import { summarize } from "../statistics";
import { startSimulatedTumblebug, type SimulatedTumblebug } from "../simulated-tumblebug";

const CONNECTIONS = [1, 5, 20];
const WORKERS = 5;
/** How long a VM takes to start: real clouds need a minute or more. */
const CREATION_MILLISECONDS = 60_000;
const PARALLEL = 64;
const ROUNDS = 3;
const MOST = 1.2;

/** The VMs of a CB-Tumblebug cluster in 1, 5 and 20 connections. */
export const tumblebug: Measurement = {
  name: "tumblebug",
  title: "VMs by CB-Tumblebug",
  summary: "`pulumi up` of 1, 5 and 20 connections on the simulated server, and a preview without changes",
  measure: measureTumblebug,
};

async function measureTumblebug(context: BenchContext): Promise<Pick<Result, "rows" | "notes">> {
  const rows: Row[] = [];
  const notes: string[] = [];
  for (const count of CONNECTIONS) {
    const simulated = await startSimulatedTumblebug("mcis", {
      connections: count,
      creation: CREATION_MILLISECONDS,
    });
    try {
      const runs: Run[] = [];
      for (let round = 0; round < (context.rounds ?? ROUNDS); round++) {
        await context.load.settle();
        const run = await upPreviewAndDestroy(context, simulated, count);
        runs.push(run);
        context.say(
          `${count} connections: up ${run.up.toFixed(1)} s, chain ${run.chain.toFixed(1)} s, preview ${run.preview.toFixed(1)} s`,
        );
      }
      rows.push(...rowsOf(count, runs));
      notes.push(`${count} connections: seconds by kind: ${runs.at(-1)?.kinds ?? ""}.`);
    } finally {
      await simulated.delete();
    }
  }
  return { rows, notes: [...NOTES, ...notes] };
}

const NOTES = [
  `The simulated server makes every VM in ${CREATION_MILLISECONDS / 1000} s, all of them side by side, and keeps the real server's limits: ` +
    "20 requests a second, and 2 reads of an MCIS. Each connection has a VNet, a security group (two with control planes), an SSH key, " +
    `a spec, an image and ${WORKERS} workers; the first has the control plane besides.`,
  "The critical path is the sum of the creations along the longest chain of dependencies. `pulumi up` has its preview in it.",
];

interface Run {
  readonly up: number;
  readonly chain: number;
  readonly preview: number;
  readonly kinds: string;
}

async function upPreviewAndDestroy(
  { toolchain }: BenchContext,
  simulated: SimulatedTumblebug,
  count: number,
): Promise<Run> {
  const desired: DesiredMachines = {
    address: simulated.address,
    generation: "mcis",
    connections: simulated.connections.slice(0, count),
    workers: WORKERS,
  };
  const program = path.join(__dirname, "..", "programs", "tumblebug-machines.js");
  const stack = await BenchStack.ofProgram(
    toolchain,
    "tumblebug",
    `module.exports = require(${JSON.stringify(program)});\n`,
    { variables: { ...simulated.variables, [MACHINES_VARIABLE]: JSON.stringify(desired) }, tuned: true },
  );
  const times = new ObjectTimes();
  try {
    const { seconds } = await stack.up({ parallel: PARALLEL, onLine: times.take });
    const made = times.made(await stack.resources());
    const preview = await stack.preview({ parallel: PARALLEL });
    await stack.destroy({ parallel: PARALLEL });
    simulated.assertEmpty();
    const kinds = [...secondsByKind(made)]
      .map(
        ([kind, each]) =>
          `${kind} ${Math.max(...each).toFixed(1)}${each.length > 1 ? ` (${each.length})` : ""}`,
      )
      .join(", ");
    return { up: seconds, chain: longestChain(made).seconds, preview: preview.seconds, kinds };
  } finally {
    stack.delete();
  }
}

function rowsOf(count: number, runs: readonly Run[]): Row[] {
  const name = `${count} connection${count === 1 ? "" : "s"}`;
  const ratio = summarize(runs.map(({ up, chain }) => up / chain));
  return [
    { what: `critical path, ${name}`, unit: "s", figure: summarize(runs.map(({ chain }) => chain)) },
    {
      what: `up, ${name}, ${count * WORKERS + 1} VMs`,
      unit: "s",
      figure: summarize(runs.map(({ up }) => up)),
      ratio: { figure: ratio, to: "the critical path" },
      wanted: { words: `≤ ${MOST} ×`, reached: ratio.median <= MOST },
    },
    {
      what: `preview without changes, ${name}`,
      unit: "s",
      figure: summarize(runs.map(({ preview }) => preview)),
    },
  ];
}
