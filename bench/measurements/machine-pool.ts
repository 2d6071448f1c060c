import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { ensureToolchain } from "../../sandbox/toolchain";
import { EngineEnd } from "../engine-end";
import type { Measurement } from "../measurement";
import { PoolFixture } from "../pool-fixture";
import { summarize } from "../statistics";
import { ratioTo } from "../results";

const ROUNDS = 20;
const MACHINE_MILLISECONDS = 300;
const WAIT_SECONDS = 120;
const WATCHED_SECONDS = 60;
const WANTED_SECONDS = 1;
const KUBERNETES = "1.36.3";

/** From the last node being Ready to the end of `pulumi up`, beside `kubectl wait`; and what the waiting costs. */
export const machinePool: Measurement = {
  name: "machine-pool",
  title: "Following a MachinePool",
  summary: `from the last ready node to the end of up, ${ROUNDS} times; requests while it waits`,
  async measure({ toolchain, report, load, say, rounds = ROUNDS }) {
    const programs = await ensureToolchain(
      { programs: ["pulumi", "language-nodejs", "cluster-api"], kubernetes: [KUBERNETES] },
      report,
    );
    const { kubectl } = toolchain.kubernetes(KUBERNETES);
    const fixture = await PoolFixture.start(programs, MACHINE_MILLISECONDS);
    const engine = await EngineEnd.start(programs);
    try {
      fixture.configure({ replicas: 0, timeouts: {} });
      await fixture.up();
      const own: number[] = [];
      const counts: number[] = [];
      const saids: number[] = [];
      const others: number[] = [];
      const floors: number[] = [];
      for (let replicas = 1; replicas <= rounds; replicas++) {
        await load.settle();
        fixture.configure({ replicas, timeouts: {} });
        const ready = fixture.readyAt(replicas, WAIT_SECONDS);
        const [counted, { said, ended }, waitEnded] = await Promise.all([
          fixture.countedAt("pool-a", replicas, WAIT_SECONDS),
          fixture.up().then((said) => ({ said, ended: Date.now() })),
          ready.then(() => kubectlWait(kubectl, fixture.kubeconfigFile, replicas)),
        ]);
        const after = async (moment: number) => (moment - (await ready)) / 1_000;
        own.push(await after(ended));
        counts.push(await after(counted));
        saids.push(await after(said));
        others.push(await after(waitEnded));
        floors.push(await engine.measure());
        const [sum, seen, up, wait, floor] = [counts, saids, own, others, floors].map((figures) =>
          figures.at(-1)?.toFixed(2),
        );
        say(
          `${replicas}: counted ${sum} s, seen ${seen} s, up ${up} s, kubectl wait ${wait} s; floor ${floor} s`,
        );
      }
      const perMinute = await requestsPerMinute(fixture, rounds);
      say(`${perMinute} requests a minute`);
      const figure = summarize(own);
      return {
        rows: [
          {
            what: "last node Ready → `pulumi up` has ended",
            unit: "s",
            figure,
            ratio: ratioTo("`kubectl wait`", others, own),
            wanted: { words: "< 1 s", reached: figure.most < WANTED_SECONDS },
          },
          { what: "last node Ready → Cluster API has counted it", unit: "s", figure: summarize(counts) },
          { what: "last node Ready → the pool's resource is done", unit: "s", figure: summarize(saids) },
          { what: "last node Ready → `kubectl wait` has ended", unit: "s", figure: summarize(others) },
          {
            what: "floor: a resource of nothing is done → its `pulumi up` has ended",
            unit: "s",
            figure: summarize(floors),
          },
          { what: "requests a minute while it waits", unit: "", figure: summarize([perMinute]) },
        ],
        notes: [
          "Cluster API's core manager 1.7.1 on a plain API server, machines that are Node objects; one node more each round.",
          "The floor is a stack of one dynamic resource without foresail, in turn with the others: what Pulumi itself takes to end.",
          "The most of all rounds stands for p99. `kubectl wait` begins as the last node is Ready, so it waits for the pool's count alone.",
          "A loop that looks every 30 s would see it 15 s later in the middle, and 30 s at worst.",
        ],
      };
    } finally {
      engine.delete();
      await fixture.stop();
    }
  },
};

async function kubectlWait(kubectl: string, kubeconfig: string, replicas: number): Promise<number> {
  const target = `--for=jsonpath={.status.readyReplicas}=${replicas}`;
  const args = [
    "--kubeconfig",
    kubeconfig,
    "-n",
    "demo",
    "wait",
    "machinepool/pool-a",
    target,
    `--timeout=${WAIT_SECONDS}s`,
  ];
  await promisify(execFile)(kubectl, args);
  return Date.now();
}

/** What a run asks in a minute while a node does not come. */
async function requestsPerMinute(fixture: PoolFixture, replicas: number): Promise<number> {
  await fixture.withholdNodes("pool-a");
  const timeouts = {
    bootstrapSeconds: 20,
    infrastructureSeconds: 20,
    nodesSeconds: WATCHED_SECONDS,
    deletionSeconds: 20,
  };
  fixture.configure({ replicas: replicas + 1, timeouts });
  const before = fixture.requests();
  await fixture.try();
  return fixture.requests() - before;
}
