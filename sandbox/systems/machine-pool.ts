import { rm } from "node:fs/promises";
import path from "node:path";
import type { Node } from "../../lib/kubernetes";
import { kubeconfigFile, sandboxFolder } from "../paths";
import { recordedOutputs } from "../state-file";
import { ensureToolchain, type Toolchain } from "../toolchain";
import type { Needs } from "../set-up";
import { forgetSize, keepSize, readSize } from "./cluster-size";
import { kubectlOf, nextCommands, writeKubeconfig } from "./made-cluster";
import { KUBERNETES_VERSION } from "./ssh-configuration";
import { stackOf, type EquippedContext, type RecordedCluster, type DesiredSize, type System } from "./system";

const NAME = "machine-pool";
const POOL = "pool-a";
const DEFAULT_REPLICAS = 2;
const CHECK_SECONDS = 20;

const NEEDS: Needs = {
  programs: ["pulumi", "language-nodejs", "cluster-api"],
  kubernetes: [KUBERNETES_VERSION],
  // the machines of the pool are objects only
  nodes: false,
};

/** What exists before `pulumi up`: the management cluster with its controllers. */
interface MachinePoolFixture {
  readonly replicas: number;
  readonly kubeconfig: string;
}

async function openCluster() {
  const { ManagementCluster } = await import("../management/management-cluster.js");
  return new ManagementCluster(path.join(sandboxFolder, NAME));
}

async function startFixture(toolchain: Toolchain): Promise<string> {
  const { startCapi } = await import("../capi/sandbox-cluster.js");
  const programs = toolchain.kubernetes(KUBERNETES_VERSION);
  const server = await startCapi(await openCluster(), {
    etcd: programs.etcd,
    kubeApiserver: programs["kube-apiserver"],
    kubeControllerManager: programs["kube-controller-manager"],
    manager: toolchain.program("cluster-api"),
  });
  return server.kubeconfig();
}

async function start(
  { toolchain, report }: EquippedContext,
  desired: DesiredSize,
): Promise<MachinePoolFixture> {
  const replicas = desired.workers ?? (await readSize(NAME))?.workers ?? DEFAULT_REPLICAS;
  await keepSize(NAME, { controlPlanes: 1, workers: replicas });
  const kubeconfig = await report.step("management cluster with Cluster API", () => startFixture(toolchain));
  return { replicas, kubeconfig };
}

interface Outputs {
  readonly nodes?: readonly { name: string }[];
  readonly phase?: string;
}

async function check(
  _context: EquippedContext,
  fixture: MachinePoolFixture,
  outputs: Outputs,
): Promise<void> {
  const { KubernetesClient } = await import("../../lib/kubernetes/index.js");
  const kubernetes = await KubernetesClient.connect(fixture, { seconds: CHECK_SECONDS });
  try {
    const isReady = ({ status }: Node) =>
      (status?.conditions ?? []).some(
        (condition) => condition.type === "Ready" && condition.status === "True",
      );
    const ready = (await kubernetes.listNodes()).filter(isReady).map(({ metadata }) => metadata?.name ?? "");
    const names = (outputs.nodes ?? []).map(({ name }) => name);
    if (names.length !== fixture.replicas || names.some((name) => !ready.includes(name)))
      throw new Error(
        `of ${fixture.replicas} nodes, the stack names ${names.join(", ")}; Ready are ${ready.join(", ")}`,
      );
    if (outputs.phase !== "Running") throw new Error(`the pool's phase is ${outputs.phase}, not Running`);
  } finally {
    kubernetes.close();
  }
}

async function recordedClusters(): Promise<RecordedCluster[]> {
  const outputs = (await recordedOutputs(stackOf({ name: NAME }))) as Outputs | undefined;
  if (outputs === undefined) return [];
  const nodes = (outputs.nodes ?? []).map(({ name }) => ({ name, role: "worker" }));
  return [{ name: "demo", kubeconfig: kubeconfigFile(NAME), nodes }];
}

/** A pool of Cluster API, with its real controller and simulated providers whose machines are Node objects. */
export const machinePoolSystem: System<MachinePoolFixture> = {
  name: NAME,
  summary: "a MachinePool on a management cluster with Cluster API, whose machines are Node objects here",
  needs: NEEDS,
  start,
  configure: ({ replicas, kubeconfig }) => ({
    values: {
      system: NAME,
      machinePool: {
        name: POOL,
        namespace: "demo",
        cluster: "demo",
        replicas,
        version: KUBERNETES_VERSION,
        bootstrap: {
          config: { apiVersion: "bootstrap.cluster.x-k8s.io/v1beta1", kind: "SandboxConfig", spec: {} },
        },
        infrastructure: {
          apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1",
          kind: "SandboxMachinePool",
          spec: { template: { flavor: "small" } },
        },
      },
    },
    secrets: { managementKubeconfig: kubeconfig },
  }),
  postStart: (_context, { kubeconfig }) => writeKubeconfig(NAME, { kubeconfig }),
  check,
  resume: async ({ report }) => {
    const { programs, kubernetes } = NEEDS;
    await startFixture(await ensureToolchain({ programs, kubernetes }, report));
  },
  nextCommands: (context, outputs) => {
    const nodes = ((outputs["nodes"] ?? []) as object[]).map(() => ({ role: "worker" }));
    const [first = "", ...rest] = nextCommands(NAME, context, nodes);
    return [first, `${kubectlOf(context)} get machinepools -A`, ...rest];
  },
  clusters: recordedClusters,
  isStarted: async () => (await (await openCluster()).running()).length > 0,
  isGone: async () => !(await openCluster()).exists(),
  stop: async () => {
    await (await openCluster()).delete();
    await forgetSize(NAME);
    await rm(kubeconfigFile(NAME), { force: true });
  },
};
