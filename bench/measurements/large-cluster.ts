import type { KubernetesClient, Pod } from "../../lib/kubernetes";
import type { BenchContext, Measurement } from "../measurement";
import type { Cost } from "../cost";
import { MemoryWatch, type Part } from "../process-memory";
import type { Row } from "../results";
import { Simulation } from "../simulation";
import { BenchStack } from "../stack";
import { summarize } from "../statistics";

const [FROM, TO] = ["1.35.4", "1.36.3"];
const MACHINES = 500;
const PODS = 10_000;
const APPS = 200;
const BUDGETS = 20;
const AT_ONCE = 40;
const POD_SECONDS = 300;
const ROUNDS = 3;
const MOST_SECONDS = 10;
const MOST_MEGABYTES = 300;
const PARTS: readonly Part[] = ["program", "dynamic provider"];

/** A preview of another version on a large cluster: its duration and its memory. */
export const largeCluster: Measurement = {
  name: "large-cluster",
  title: "A preview of a rollout on a large cluster",
  summary: `${FROM} → ${TO} of ${MACHINES} machines with ${PODS} pods, by the engine: duration and memory`,
  async measure(context) {
    const simulation = await Simulation.start(MACHINES - 1, { version: FROM });
    const content = simulation.content(MACHINES, FROM);
    const stack = await BenchStack.ofForesail(context.toolchain, content, SKIP_CHECKPOINTS).catch(
      async (error: unknown) => {
        await simulation.stop();
        throw error;
      },
    );
    try {
      const { report } = context;
      await report.step(`a cluster of ${MACHINES} simulated machines`, () => stack.up({ parallel: 32 }));
      await simulation.noteClusterVersion(FROM);
      await report.step(`${PODS} pods`, () =>
        simulation.withClient((client) => putPods(client, simulation.names)),
      );
      await stack.configure(simulation.content(MACHINES, TO));
      return { rows: await measurePreviews(context, stack), notes: NOTES };
    } finally {
      stack.delete();
      await simulation.stop();
    }
  },
};

/** The engine writes the state at its end only: this `up` is not what is measured. */
const SKIP_CHECKPOINTS = { PULUMI_EXPERIMENTAL: "true", PULUMI_SKIP_CHECKPOINTS: "true" };

const NOTES = [
  "`pulumi preview --diff` of simulated machines, one of them the control plane, in front of a real API server with pods and disruption budgets. " +
    "Each preview lists every node, and what its drain would wait for.",
  "Memory is the peak of a process's resident memory as the kernel counts it. The dynamic provider reads the cluster.",
];

async function measurePreviews(
  { load, say, rounds = ROUNDS }: BenchContext,
  stack: BenchStack,
): Promise<Row[]> {
  // once for the file caches
  await stack.previewDiff();
  const costs: Cost[] = [];
  const memory = new Map<Part, number[]>(PARTS.map((part) => [part, []]));
  for (let round = 0; round < rounds; round++) {
    await load.settle();
    const watch = new MemoryWatch();
    const { text, cost } = await stack.previewDiff().finally(() => watch.stop());
    const steps = text.split("\n").filter((line) => line.includes(`${FROM} → ${TO} (`)).length;
    if (steps < MACHINES) throw new Error(`the preview lists ${steps} of ${MACHINES} machines`);
    costs.push(cost);
    for (const [part, peaks] of memory) peaks.push(watch.stop().get(part) ?? 0);
    say(
      `${cost.seconds.toFixed(2)} s (${cost.processorSeconds.toFixed(2)} s of processors), ${PARTS.map((part) => `${part} ${memory.get(part)?.at(-1)?.toFixed(0)} MB`).join(", ")}`,
    );
  }
  return rowsOf(costs, memory);
}

function rowsOf(costs: readonly Cost[], memory: ReadonlyMap<Part, number[]>): Row[] {
  const time = summarize(costs.map(({ seconds }) => seconds));
  return [
    {
      what: `preview, ${MACHINES} machines, ${PODS} pods`,
      unit: "s",
      figure: time,
      wanted: { words: `≤ ${MOST_SECONDS} s`, reached: time.median <= MOST_SECONDS },
    },
    {
      what: "the same, processor time of all its processes",
      unit: "s",
      figure: summarize(costs.map(({ processorSeconds }) => processorSeconds)),
    },
    ...PARTS.map((part): Row => {
      const figure = summarize(memory.get(part) ?? []);
      const wanted = { words: `≤ ${MOST_MEGABYTES} MB`, reached: figure.most <= MOST_MEGABYTES };
      return { what: `peak memory of the ${part}`, unit: "MB", figure, wanted };
    }),
  ];
}

/** Creates the pods, evenly over the nodes, and budgets for some of them. */
async function putPods(client: KubernetesClient, nodes: readonly string[]): Promise<void> {
  for (let index = 0; index < BUDGETS; index++)
    await client.create({
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { name: `app-${index}`, namespace: "default" },
      spec: { maxUnavailable: 1, selector: { matchLabels: { app: `app-${index}` } } },
    });
  const left = Array.from({ length: PODS }, (_, index) => index);
  const lane = async () => {
    for (let index = left.pop(); index !== undefined; index = left.pop())
      await client.create(podOf(index, nodes[index % nodes.length] ?? ""));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  // else the previews would be measured beside kubelets that are starting pods
  await client.watchUntil<void, Pod>({
    what: "pods that run",
    apiVersion: "v1",
    kind: "Pod",
    fieldSelector: "status.phase!=Running",
    seconds: POD_SECONDS,
    decide: (pods) => (pods.length === 0 ? { done: undefined } : { pending: `${pods.length} are starting` }),
  });
}

/** Returns a pod of the size that pods of a Deployment have. */
function podOf(index: number, nodeName: string) {
  const app = `app-${index % APPS}`;
  const env = Array.from({ length: 30 }, (_, at) => ({ name: `SETTING_${at}`, value: `a value of ${app}` }));
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: app, uid: app, controller: true };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `${app}-${index}`,
      namespace: "default",
      labels: { app },
      ownerReferences: [owner],
    },
    spec: { nodeName, containers: [{ name: "app", image: `registry.example.com/${app}:1.0.0`, env }] },
  };
}
