import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { ensureToolchain } from "../../sandbox/toolchain";
import type { Measurement } from "../measurement";
import { PoolGround } from "../pool-ground";
import { pairedRatio, summarise } from "../statistics";

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
    const ground = await PoolGround.start(programs, MACHINE_MILLISECONDS);
    try {
      ground.configure({ replicas: 0, timeouts: {} });
      await ground.up();
      const own: number[] = [];
      const others: number[] = [];
      for (let replicas = 1; replicas <= rounds; replicas++) {
        load.note();
        ground.configure({ replicas, timeouts: {} });
        const ready = ground.readyAt(replicas, WAIT_SECONDS);
        const [upEnded, waitEnded] = await Promise.all([
          ground.up().then(() => Date.now()),
          ready.then(() => kubectlWait(kubectl, ground.kubeconfigFile, replicas)),
        ]);
        own.push((upEnded - (await ready)) / 1_000);
        others.push((waitEnded - (await ready)) / 1_000);
        say(`${replicas}: up ${own.at(-1)} s, kubectl wait ${others.at(-1)} s after the last node`);
      }
      const perMinute = await requestsPerMinute(ground, rounds);
      say(`${perMinute} requests a minute`);
      const figure = summarise(own);
      return {
        rows: [
          {
            what: "last node Ready → `pulumi up` has ended",
            unit: "s",
            figure,
            ratio: { figure: pairedRatio(others, own), to: "`kubectl wait`" },
            wanted: { words: "< 1 s", reached: figure.most < WANTED_SECONDS },
          },
          { what: "last node Ready → `kubectl wait` has ended", unit: "s", figure: summarise(others) },
          { what: "requests a minute while it waits", unit: "", figure: summarise([perMinute]) },
        ],
        notes: [
          "Cluster API's core manager 1.7.1 on a plain API server, machines that are Node objects; one node more each round.",
          "The most of all rounds stands for p99. `kubectl wait` begins as the last node is Ready, so it waits for the pool's count alone.",
          "A loop that looks every 30 s would see it 15 s later in the middle, and 30 s at worst.",
        ],
      };
    } finally {
      await ground.stop();
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
async function requestsPerMinute(ground: PoolGround, replicas: number): Promise<number> {
  await ground.withholdNodes("pool-a");
  const timeouts = { bootstrap: 20, infrastructure: 20, nodes: WATCHED_SECONDS, deletion: 20 };
  ground.configure({ replicas: replicas + 1, timeouts });
  const before = ground.requests();
  await ground.try();
  return ground.requests() - before;
}
