import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { KubernetesClient } from "../../lib/kubernetes";
import { NodeFleet } from "../../sandbox/nodes";
import { nodeKeyFile } from "../../sandbox/nodes/paths";
import { projectFolder } from "../../sandbox/paths";
import { SANDBOX_NEEDS, setUp } from "../../sandbox/set-up";
import type { Size } from "../../sandbox/systems/cluster-size";
import { KUBERNETES_VERSION as TO } from "../../sandbox/systems/ssh-configuration";
import { runCommand } from "../command";
import { type Fixture, freshFixture } from "../fixture";
import { removedAfter } from "../interrupts";
import type { BenchContext, Measurement } from "../measurement";
import { renderSteps } from "../rendered-steps";
import { ratioTo } from "../results";
import { summarize } from "../statistics";
import { partsOf, type Upgrade, upgradesDuring, wholeSeconds } from "../upgrades";

const FROM = "1.35.4";
const SIZE: Size = { controlPlanes: 3, workers: 2 };
const ROUNDS = 2;
const MOST = 1.05;
const LIMIT_SECONDS = 1_200;

type Contestant = "script" | "foresail";
const CONTESTANTS: readonly Contestant[] = ["script", "foresail"];

/** An upgrade of a whole cluster to the next minor, one node at a time, against the steps of Kubernetes' guide by hand. */
export const rolloutCluster: Measurement = {
  name: "rollout-cluster",
  title: "A rollout of a whole cluster",
  summary: `${SIZE.controlPlanes}+${SIZE.workers} from ${FROM} to ${TO}, one node at a time, against a shell script`,
  async measure(context) {
    const toolchain = await setUp({ ...SANDBOX_NEEDS, kubernetes: [TO, FROM] }, context.report);
    const fleet = new NodeFleet("bench");
    return removedAfter(
      () => fleet.deleteAll(),
      () => compare({ ...context, toolchain }, fleet),
    );
  },
};

async function compare(context: BenchContext, fleet: NodeFleet) {
  const seconds: Record<Contestant, number[]> = { script: [], foresail: [] };
  const upgrades: Record<Contestant, Upgrade[]> = { script: [], foresail: [] };
  for (let round = 0; round < (context.rounds ?? ROUNDS); round++) {
    for (const who of round % 2 === 0 ? CONTESTANTS : [...CONTESTANTS].reverse()) {
      const seen = await run(who, context, fleet);
      seconds[who].push(wholeSeconds(seen));
      upgrades[who].push(...seen);
      context.say(`${who}: ${wholeSeconds(seen).toFixed(1)} s (a node: ${partsOf(seen)})`);
    }
  }
  const ratio = ratioTo("the script", seconds.script, seconds.foresail);
  const size = `${SIZE.controlPlanes}+${SIZE.workers}`;
  return {
    rows: [
      { what: `shell script, ${size}`, unit: "s" as const, figure: summarize(seconds.script) },
      {
        what: `foresail, ${size}`,
        unit: "s" as const,
        figure: summarize(seconds.foresail),
        ratio,
        wanted: { words: `≤ ${MOST} ×`, reached: ratio.figure.median <= MOST },
      },
    ],
    notes: [
      `A new cluster of ${FROM} on fresh container nodes before each run; making it is not counted. Timed from the first node's cordon to the last one's return, as a ` +
        "watch of the Nodes sees it. Both have the new version's programs and images on the machines before the first cordon.",
      "The script is the floor: bench/floor/rollout-cluster.sh, `kubectl drain`, `kubeadm upgrade apply` or `node`, programs, kubelet, `kubectl wait`, `kubectl uncordon`.",
      "foresail alone also checks etcd's health before each control plane, confirms its Lease before each step, and writes Events and history.",
      `By stages, in seconds until the watch saw each: ${CONTESTANTS.map((who) => `${who}: ${partsOf(upgrades[who])}`).join("; ")}.`,
    ],
  };
}

/** Upgrades a new cluster once. */
async function run(
  who: Contestant,
  { toolchain, report, load }: BenchContext,
  fleet: NodeFleet,
): Promise<Upgrade[]> {
  const fixture = await freshFixture({ toolchain, report }, fleet, SIZE, [FROM, TO]);
  const { stack, content } = fixture;
  const folder = mkdtempSync(path.join(tmpdir(), "foresail-bench-rollout-"));
  try {
    await stack.configure({ ...content, cluster: { ...content.cluster, version: FROM } });
    await report.step(`a cluster of ${FROM}`, () => stack.up());
    const kubeconfig = await stack.output("kubeconfig");
    const file = path.join(folder, "kubeconfig");
    writeFileSync(file, kubeconfig, { mode: 0o600 });
    await load.settle();
    const client = await KubernetesClient.connect({ kubeconfig }, { seconds: 60 });
    try {
      const names = fixture.machines.map(({ name }) => name);
      return await upgradesDuring(client, names, TO, LIMIT_SECONDS, () =>
        who === "foresail"
          ? stack
              .configure({ ...content, cluster: { ...content.cluster, version: TO } })
              .then(() => stack.up())
          : runScript(fixture, toolchain.kubernetes(TO).kubectl, file),
      );
    } finally {
      client.close();
    }
  } finally {
    stack.delete();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runScript({ specification, machines }: Fixture, kubectl: string, kubeconfig: string) {
  const work = renderSteps(specification, machines, nodeKeyFile);
  const script = path.join(projectFolder, "bench", "floor", "rollout-cluster.sh");
  const flags = specification.ignorePreflightErrors.map((one) => `--ignore-preflight-errors=${one}`);
  try {
    await runCommand("bash", [script, work, TO, kubectl, kubeconfig, ...flags], { seconds: LIMIT_SECONDS });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
