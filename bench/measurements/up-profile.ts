import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { nodeKeyFile } from "../../sandbox/nodes/paths";
import { NodeFleet } from "../../sandbox/nodes";
import type { Size } from "../../sandbox/systems/cluster-size";
import { parseStepLog, type StepRun } from "../../test/cluster/step-logs";
import { freshFixture, type Fixture } from "../fixture";
import { removedAfter } from "../interrupts";
import type { BenchContext, Measured, Measurement } from "../measurement";
import { chartSvg, chartText } from "../profile/chart";
import { ENGINE, engineSpans, gaps, machineSpans, RESOURCES, type Span } from "../profile/spans";
import { renderSteps } from "../rendered-steps";
import type { Row } from "../results";
import { summarize } from "../statistics";

const SIZES: readonly Size[] = [
  { controlPlanes: 1, workers: 1 },
  { controlPlanes: 3, workers: 2 },
];
const SECONDS_TO_READ = 60;
const execute = promisify(execFile);

/** Where the time of a new cluster goes: one `pulumi up` of each size, drawn as a Gantt chart. */
export const upProfile: Measurement = {
  name: "up --profile",
  title: "Where the time of a new cluster goes",
  summary: "a Gantt chart of one `pulumi up` of 1+1 and 3+2",
  async measure(context) {
    const fleet = new NodeFleet("bench");
    const rows: Row[] = [];
    const images: NonNullable<Measured["images"]>[number][] = [];
    await removedAfter(
      () => fleet.deleteAll(),
      async () => {
        for (const size of SIZES) {
          const name = `${size.controlPlanes}+${size.workers}`;
          const { spans, end } = await profile(context, fleet, size);
          context.say(`${name}\n${chartText(spans, end)}`);
          const title = `pulumi up of ${name}, ${end.toFixed(1)} s`;
          const file = `up-${size.controlPlanes}-${size.workers}.svg`;
          images.push({ file, shows: `Gantt chart of ${title}`, svg: chartSvg(title, spans, end) });
          rows.push(...idleRows(name, spans, end));
        }
      },
    );
    return {
      rows,
      images,
      notes: [
        "Resources and phases from the engine's events as they arrive, steps from the logs on the machines, which are containers with " +
          "the same clock. What took less than 0.1 s is left out.",
      ],
    };
  },
};

/** How long everything took, and for how long of it no machine had anything to do. */
function idleRows(name: string, spans: readonly Span[], end: number): Row[] {
  const onMachines = spans.filter(({ group }) => group !== ENGINE && group !== RESOURCES);
  const idle = gaps(onMachines, end).reduce((sum, { from, to }) => sum + to - from, 0);
  return [
    { what: `\`pulumi up\` of ${name}`, unit: "s", figure: summarize([end]) },
    { what: "no machine works", unit: "s", figure: summarize([idle]) },
  ];
}

async function profile(
  context: BenchContext,
  fleet: NodeFleet,
  size: Size,
): Promise<{ spans: Span[]; end: number }> {
  const fixture = await freshFixture(context, fleet, size);
  await context.load.settle();
  try {
    const { lines, start, end } = await fixture.stack.upWithEvents();
    const runs = await stepRuns(fixture);
    return { spans: [...engineSpans(lines, end), ...machineSpans(runs, start)], end };
  } finally {
    fixture.stack.delete();
  }
}

/** Reads the logs of all machines. */
async function stepRuns({ specification, machines }: Fixture): Promise<StepRun[]> {
  const work = renderSteps(specification, machines, nodeKeyFile);
  try {
    const logs = await Promise.all(
      machines.map(async ({ name }) => {
        const command = "sudo -n sh -c 'cat /var/log/foresail/*.log'";
        const { stdout } = await execute("ssh", ["-F", path.join(work, "ssh_config"), name, command], {
          timeout: SECONDS_TO_READ * 1000,
          maxBuffer: 64 * 2 ** 20,
        });
        return parseStepLog(name, stdout);
      }),
    );
    return logs.flat();
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
