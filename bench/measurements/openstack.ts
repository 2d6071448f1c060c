import { withBenchCloud, type BenchCloud } from "../cloud";
import type { BenchContext, Measurement } from "../measurement";
import {
  avoidableWaits,
  kindOf,
  longestChain,
  ObjectTimes,
  secondsByKind,
  type Chain,
  type MadeObject,
  type Phases,
} from "../object-waits";
import { PARALLEL_OPERATIONS } from "../../cli/engine/pulumi";
import { inTurn, makeStack, NAMES, type Who } from "../openstack-stacks";
import type { Result, Row } from "../results";
import { pairedRatio, summarize } from "../statistics";

/** How many servers, and how often; the first is 1 server, whose waits are the critical path. `--rounds` makes all equally often. */
const SIZES = [
  { servers: 1, rounds: 3 },
  { servers: 5, rounds: 2 },
  { servers: 20, rounds: 1 },
];
const MOST = 1.2;
/** Differences below this are noise of the clock. */
const NOTICEABLE = 0.1;

/** The servers of an OpenStack cluster, against the waits that their provider has in any program. */
export const openstack: Measurement = {
  name: "openstack",
  title: "OpenStack servers",
  summary: "`pulumi up` of 1, 5 and 20 servers against the provider's own waits",
  measure: measureOpenstack,
};

async function measureOpenstack(context: BenchContext): Promise<Pick<Result, "rows" | "notes">> {
  return withBenchCloud(context, async (cloud) => {
    const rows: Row[] = [];
    const notes: string[] = [];
    let critical: Chain[] | undefined;
    for (const { servers, rounds } of SIZES) {
      const runs = await compareUps(context, cloud, servers, context.rounds ?? rounds);
      critical ??= runs.floor.map(({ objects }) => longestChain(objects));
      rows.push(...rowsOfUps(servers, runs, critical));
      notes.push(...notesOfUps(servers, runs));
    }
    return { rows, notes: [...NOTES, ...notes] };
  });
}

const NOTES = [
  "A real OpenStack without hypervisors: its servers are rows in nova's database and ACTIVE at once, so what is left is what programs, " +
    "engine, provider and APIs take. It runs on the same processors as what is measured.",
  "The bare program makes network, subnet, router, ports and instances with `@pulumi/openstack` and nothing else. foresail makes key, " +
    "server groups, security groups and their rules besides. Both with `--parallel " +
    `${PARALLEL_OPERATIONS}\`; \`pulumi up\` has its preview in it, which the critical path has not.`,
  "The critical path is the sum of the creations along the longest chain of dependencies, in the bare program with one server. " +
    "Many servers at once keep this cloud's few processors busy, so that each takes longer in any program: compare with the bare one.",
];

interface Run {
  readonly seconds: number;
  readonly phases: Phases;
  readonly objects: readonly MadeObject[];
}

/** Runs `up` of both alternately. */
async function compareUps(
  context: BenchContext,
  cloud: BenchCloud,
  servers: number,
  rounds: number,
): Promise<Record<Who, Run[]>> {
  const runs: Record<Who, Run[]> = { floor: [], foresail: [] };
  for (let round = 0; round < rounds; round++) {
    for (const who of inTurn(round)) {
      await context.load.settle();
      const run = await measureUp(cloud, who, servers);
      runs[who].push(run);
      const chain = longestChain(run.objects);
      context.say(
        `${servers} servers, ${NAMES[who]}: ${run.seconds.toFixed(1)} s; longest chain ${sayChain(chain, run.objects)}`,
      );
    }
  }
  return runs;
}

async function measureUp(cloud: BenchCloud, who: Who, servers: number): Promise<Run> {
  const stack = await makeStack(cloud, who, servers);
  const times = new ObjectTimes();
  try {
    const { seconds } = await stack.up({ parallel: PARALLEL_OPERATIONS, onLine: times.take });
    const phases = times.phases(performance.now());
    return { seconds, objects: times.made(await stack.resources()), phases };
  } finally {
    await cloud.clear();
    stack.delete();
  }
}

/** "27.1 s: Network 5.3 + Subnet 5.3 + …" */
function sayChain({ seconds, keys }: Chain, objects: readonly MadeObject[]): string {
  const took = new Map(objects.map((object) => [object.key, object.seconds]));
  const parts = keys.map((key) => `${kindOf(key)} ${(took.get(key) ?? 0).toFixed(1)}`);
  return `${seconds.toFixed(1)} s: ${parts.join(" + ")}`;
}

const sayPhases = ({ preview, start, objects, end }: Phases): string =>
  `preview ${preview.toFixed(1)}, start ${start.toFixed(1)}, objects ${objects.toFixed(1)}, end ${end.toFixed(1)}`;

function rowsOfUps(servers: number, runs: Record<Who, Run[]>, critical: readonly Chain[]): Row[] {
  const path = summarize(critical.map(({ seconds }) => seconds));
  const name = `${servers} server${servers === 1 ? "" : "s"}`;
  const seconds = (who: Who) => runs[who].map((run) => run.seconds);
  const toPath = (who: Who) => summarize(seconds(who).map((figure) => figure / path.median));
  const chain = (who: Who) => summarize(runs[who].map(({ objects }) => longestChain(objects).seconds));
  const ratio = toPath("foresail");
  return [
    ...(servers === 1 ? [{ what: "critical path", unit: "s", figure: path } as const] : []),
    {
      what: `bare program, ${name}`,
      unit: "s",
      figure: summarize(seconds("floor")),
      ratio: { figure: toPath("floor"), to: "the critical path" },
    },
    {
      what: `foresail, ${name}`,
      unit: "s",
      figure: summarize(seconds("foresail")),
      ratio: { figure: ratio, to: "the critical path" },
      wanted: { words: `≤ ${MOST} ×`, reached: ratio.median <= MOST },
    },
    {
      what: `foresail's longest chain, ${name}`,
      unit: "s",
      figure: chain("foresail"),
      ratio: {
        figure: pairedRatio(
          runs.floor.map(({ objects }) => longestChain(objects).seconds),
          runs.foresail.map(({ objects }) => longestChain(objects).seconds),
        ),
        to: "the bare program's",
      },
    },
    {
      what: `foresail by the bare program, ${name}`,
      unit: "×",
      figure: pairedRatio(seconds("floor"), seconds("foresail")),
    },
  ];
}

/** Returns notes on where the time of foresail's run went, and which of its dependencies cost time. */
function notesOfUps(servers: number, runs: Record<Who, Run[]>): string[] {
  const [floor, foresail] = [runs.floor.at(-1), runs.foresail.at(-1)];
  if (!floor || !foresail) return [];
  const kinds = [...secondsByKind(foresail.objects)].map(
    ([kind, seconds]) =>
      `${kind} ${summarize(seconds).median.toFixed(1)}${seconds.length === 1 ? "" : ` (${seconds.length}, ` + `most ${Math.max(...seconds).toFixed(1)})`}`,
  );
  const savings = avoidableWaits(foresail.objects, floor.objects)
    .filter(({ seconds }) => seconds >= NOTICEABLE)
    .map(({ kind, after, seconds }) => `${kind} not after ${after}: ${seconds.toFixed(1)} s less`);
  return [
    `${servers}: foresail's longest chain ${sayChain(longestChain(foresail.objects), foresail.objects)}; ` +
      `the bare program's ${sayChain(longestChain(floor.objects), floor.objects)}.`,
    `${servers}: where the seconds went: foresail ${sayPhases(foresail.phases)}; the bare program ${sayPhases(floor.phases)}.`,
    `${servers}: creations in seconds: ${kinds.join(", ")}.`,
    `${servers}: of the dependencies that the bare program has not, ` +
      `${savings.length === 0 ? "none makes the chain longer" : savings.join(", ")}.`,
  ];
}
