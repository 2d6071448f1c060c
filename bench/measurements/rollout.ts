import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { KubernetesClient, type Node, type Pod } from "../../lib/kubernetes";
import { observeRolloutNode } from "../../providers/kubeadm/plan/rollout/observed";
import { ECHO_IMAGE, NodeFleet } from "../../sandbox/nodes";
import { nodeKeyFile } from "../../sandbox/nodes/paths";
import { projectFolder } from "../../sandbox/paths";
import { SANDBOX_NEEDS, setUp } from "../../sandbox/set-up";
import { KUBERNETES_VERSION as TO } from "../../sandbox/systems/ssh-configuration";
import type { Size } from "../../sandbox/systems/cluster-size";
import { runCommand } from "../command";
import { removedAfter } from "../interrupts";
import { freshFixture, type Fixture } from "../fixture";
import type { BenchContext, Measurement } from "../measurement";
import { renderSteps } from "../rendered-steps";
import { ratioTo, type Row } from "../results";
import { pairedRatio, summarize } from "../statistics";
import { partsOf, type Upgrade, upgradesDuring, wholeSeconds } from "../upgrades";

const FROM = "1.35.4";
const SIZE: Size = { controlPlanes: 1, workers: 5 };
const AT_ONCE = [1, 2, 5] as const;

/** Whether each worker has a pod that takes its time to leave. */
type Load = "busy" | "empty";
const RUNS: readonly { atOnce: number; load: Load }[] = [
  { atOnce: 1, load: "empty" },
  ...AT_ONCE.map((atOnce) => ({ atOnce, load: "busy" as const })),
];

const ROUNDS = 2;
/** Of the script's time: at one worker at a time, and at several. */
const MOST = { one: 1.05, several: 1 } as const;
/** A speed-up of at least this fraction of the ideal one counts as linear. */
const NEAR_LINEAR = 0.8;
const LIMIT_SECONDS = 600;
/** A pod that loses no requests: it keeps serving until every node knows that it is terminating. */
const LEAVING_SECONDS = 8;
const WORKLOAD = { name: "served", namespace: "default" };

type Contestant = "script" | "foresail";
const CONTESTANTS: readonly Contestant[] = ["script", "foresail"];

/** An upgrade of a cluster's workers to the next minor, against the steps of Kubernetes' guide by hand. */
export const rollout: Measurement = {
  name: "rollout",
  title: "A rollout of workers",
  summary: `${SIZE.workers} workers from ${FROM} to ${TO}, ${AT_ONCE.join(", ")} at once, against a shell script`,
  async measure(context) {
    const toolchain = await setUp({ ...SANDBOX_NEEDS, kubernetes: [TO, FROM] }, context.report);
    const fleet = new NodeFleet("bench");
    let cluster: RolledCluster | undefined;
    const remove = () => {
      cluster?.delete();
      return fleet.deleteAll();
    };
    return removedAfter(remove, async () => {
      const fixture = await freshFixture({ ...context, toolchain }, fleet, SIZE, [TO, FROM]);
      cluster = new RolledCluster(fixture, toolchain.kubernetes(TO).kubectl);
      await context.report.step(`a cluster of ${TO}`, () => fixture.stack.up());
      await cluster.connect();
      return compare(context, cluster);
    });
  },
};

type Seconds = Record<Contestant, number[]>;

async function compare({ load, say, rounds = ROUNDS }: BenchContext, cluster: RolledCluster) {
  const rows: Row[] = [];
  const parts: string[] = [];
  let alone: Seconds = { script: [], foresail: [] };
  for (const run of RUNS) {
    const seconds: Seconds = { script: [], foresail: [] };
    const upgrades: Record<Contestant, Upgrade[]> = { script: [], foresail: [] };
    const what = `${run.load} workers, ${run.atOnce} at once`;
    await cluster.occupy(run.load);
    for (let round = 0; round < rounds; round++) {
      for (const who of round % 2 === 0 ? CONTESTANTS : [...CONTESTANTS].reverse()) {
        await cluster.putBack(who);
        await load.settle();
        const seen = await cluster.run(who, run.atOnce);
        seconds[who].push(wholeSeconds(seen));
        upgrades[who].push(...seen);
        say(`${what}, ${who}: ${wholeSeconds(seen).toFixed(1)} s (an upgrade: ${partsOf(seen)})`);
      }
    }
    if (run.atOnce === 1) {
      alone = seconds;
      for (const who of CONTESTANTS) parts.push(`${who}, ${run.load}: ${partsOf(upgrades[who])}`);
    }
    rows.push(...comparison(what, run, seconds));
    if (run.atOnce > 1) rows.push(...speedUps(run.atOnce, seconds, alone));
  }
  return { rows, notes: notesOf(parts) };
}

function notesOf(parts: readonly string[]): string[] {
  const most = AT_ONCE.slice(1).map((atOnce) => `${linear(atOnce).toFixed(2)} × at ${atOnce}`);
  return [
    `Container nodes with the programs and images of both versions: ${SIZE.controlPlanes} control plane, at ${TO} already, and ${SIZE.workers} workers that are put ` +
      `back to ${FROM} before each run. Timed from the first worker's cordon to the last one's return, as a watch of the Nodes sees it.`,
    "The script is the floor: bench/floor/rollout.sh, `kubectl drain`, `kubeadm upgrade node`, programs, kubelet, `kubectl wait`, `kubectl uncordon`; so " +
      "many workers at once as foresail has in `maxUnavailable`. Both find the new version on the machines, foresail as its NodeAgents stage it.",
    `A busy worker has a pod that loses no requests: it ends ${LEAVING_SECONDS} s after its deletion. On an empty worker there is nothing to drain, which shows the machine's own time alone.`,
    "foresail alone also checks the programs' checksums, confirms its Lease before each step, and writes Events and history.",
    `One upgrade at a time by its stages, in seconds until the watch saw each: ${parts.join("; ")}.`,
    `Linear would be ${most.join(", ")}; the nodes share the machine's processors.`,
  ];
}

/** Returns the ideal speed-up over one at a time, in whole batches. */
const linear = (atOnce: number) => SIZE.workers / Math.ceil(SIZE.workers / atOnce);

function comparison(
  what: string,
  { load, atOnce }: (typeof RUNS)[number],
  { script, foresail }: Seconds,
): Row[] {
  const most = atOnce === 1 ? MOST.one : MOST.several;
  const ratio = ratioTo("the script", script, foresail);
  return [
    { what: `shell script, ${what}`, unit: "s", figure: summarize(script) },
    {
      what: `foresail, ${what}`,
      unit: "s",
      figure: summarize(foresail),
      ratio,
      ...(load === "busy" && { wanted: { words: `≤ ${most} ×`, reached: ratio.figure.median <= most } }),
    },
  ];
}

function speedUps(atOnce: number, seconds: Seconds, alone: Seconds): Row[] {
  const least = linear(atOnce) * NEAR_LINEAR;
  const foresail = pairedRatio(seconds.foresail, alone.foresail);
  const figure = pairedRatio(seconds.script, alone.script);
  return [
    { what: `shell script, speed-up by ${atOnce} at once`, unit: "×", figure },
    {
      what: `foresail, speed-up by ${atOnce} at once`,
      unit: "×",
      figure: foresail,
      wanted: { words: `≥ ${least.toFixed(2)} ×`, reached: foresail.median >= least },
    },
  ];
}

/** A cluster whose workers are put back and rolled out again and again. */
class RolledCluster {
  private readonly folder = mkdtempSync(path.join(tmpdir(), "foresail-bench-rollout-"));
  private readonly kubeconfig = path.join(this.folder, "kubeconfig");
  private readonly work: string;
  private readonly workers: readonly string[];
  private client?: KubernetesClient;
  private podsPerWorker = 0;

  constructor(
    private readonly fixture: Fixture,
    private readonly kubectl: string,
  ) {
    const { specification, machines } = fixture;
    this.work = renderSteps(specification, machines, nodeKeyFile);
    this.workers = machines.filter(({ role }) => role === "worker").map(({ name }) => name);
  }

  async connect(): Promise<void> {
    const kubeconfig = await this.fixture.stack.output("kubeconfig");
    writeFileSync(this.kubeconfig, kubeconfig, { mode: 0o600 });
    this.client = await KubernetesClient.connect({ kubeconfig }, { seconds: 60 });
    // the location of its pods is random, and draining one takes longer than all the rest
    const spec = { template: { spec: { nodeSelector: { "node-role.kubernetes.io/control-plane": "" } } } };
    const reference = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      namespace: "kube-system",
      name: "coredns",
    };
    await this.client.mergePatch(reference, { spec });
    await this.untilPods("the pods of CoreDNS to leave the workers", {
      namespace: "kube-system",
      labelSelector: "k8s-app=kube-dns",
      isMet: (pods) =>
        pods.length > 0 && pods.every(({ spec }) => !this.workers.includes(spec?.nodeName ?? "")),
    });
  }

  /** Gives each worker a pod of its own, or removes the pods. */
  async occupy(load: Load): Promise<void> {
    const labels = { app: WORKLOAD.name };
    const here = [{ labelSelector: { matchLabels: labels }, topologyKey: "kubernetes.io/hostname" }];
    const pod = {
      terminationGracePeriodSeconds: 30,
      affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: here } },
      containers: [
        {
          name: "echo",
          image: ECHO_IMAGE,
          imagePullPolicy: "Never",
          lifecycle: { preStop: { sleep: { seconds: LEAVING_SECONDS } } },
        },
      ],
    };
    await this.api.apply({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: WORKLOAD,
      spec: {
        replicas: load === "busy" ? this.workers.length : 0,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: pod },
      },
    });
    this.podsPerWorker = load === "busy" ? 1 : 0;
  }

  /**
   * Waits until the workers are as before a rollout: Ready with the older version, and reported by the agent if it is
   * needed.
   */
  async putBack(before: Contestant): Promise<void> {
    const agent = before === "foresail" ? "start" : "stop";
    await this.script("back.sh", [this.work, FROM, agent, TO]);
    await this.api.watchUntil<void, Node>({
      what: `the workers to be back at ${FROM}`,
      apiVersion: "v1",
      kind: "Node",
      seconds: LIMIT_SECONDS,
      decide: (nodes) => {
        const away = nodes
          .map((node) => observeRolloutNode(node))
          .filter(({ name }) => this.workers.includes(name))
          .filter(
            ({ kubeletVersion, ready, unschedulable, current }) =>
              kubeletVersion !== FROM ||
              !ready ||
              unschedulable ||
              (agent === "start" && current["kubelet"] !== FROM),
          );
        return away.length === 0 ? { done: undefined } : { pending: away.map(({ name }) => name).join(", ") };
      },
    });
    const wanted = this.workers.length * this.podsPerWorker;
    await this.untilPods(`${wanted} pods of the workload to run`, {
      namespace: WORKLOAD.namespace,
      labelSelector: `app=${WORKLOAD.name}`,
      isMet: (pods) =>
        pods.length === wanted &&
        pods.every(({ status, metadata }) => status?.phase === "Running" && !metadata?.deletionTimestamp),
    });
  }

  async run(who: Contestant, atOnce: number): Promise<Upgrade[]> {
    const { stack, content, specification } = this.fixture;
    const flags = specification.ignorePreflightErrors.map((one) => `--ignore-preflight-errors=${one}`);
    const cluster = { ...content.cluster, rollout: { maxUnavailable: atOnce } };
    if (who === "foresail") await stack.configure({ ...content, cluster });
    const script = [this.work, TO, String(atOnce), this.kubectl, this.kubeconfig, ...flags];
    return upgradesDuring(this.api, this.workers, TO, LIMIT_SECONDS, () =>
      who === "foresail" ? stack.up() : this.script("rollout.sh", script),
    );
  }

  delete(): void {
    this.client?.close();
    this.fixture.stack.delete();
    for (const folder of [this.work, this.folder]) rmSync(folder, { recursive: true, force: true });
  }

  private get api(): KubernetesClient {
    if (this.client === undefined) throw new Error("the cluster is not connected");
    return this.client;
  }

  private script(name: string, args: readonly string[]): Promise<void> {
    const file = path.join(projectFolder, "bench", "floor", name);
    return runCommand("bash", [file, ...args], { seconds: LIMIT_SECONDS });
  }

  private untilPods(
    what: string,
    { isMet, ...where }: { namespace: string; labelSelector: string; isMet: (pods: Pod[]) => boolean },
  ): Promise<void> {
    return this.api.watchUntil<void, Pod>({
      ...where,
      what,
      apiVersion: "v1",
      kind: "Pod",
      seconds: LIMIT_SECONDS,
      decide: (pods) => (isMet(pods) ? { done: undefined } : { pending: `${pods.length} pods` }),
    });
  }
}
