import { readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { KubernetesClient } from "../../lib/kubernetes";
import { API } from "../../providers/azimuth/plan/names";
import { azimuthValues } from "../azimuth/stack-values";
import { makeTenancy, TENANCY } from "../azimuth/tenancy";
import { ManagementCluster } from "../management/management-cluster";
import { kubeconfigFile, sandboxFolder } from "../paths";
import { KUBERNETES_VERSION } from "./ssh-configuration";
import { kubectlOf } from "./made-cluster";
import { stackOf, type EquippedContext, type System } from "./system";

const NAME = "azimuth";
const FOLDER = path.join(sandboxFolder, "azimuth");
const CONTROLLERS = "azimuth-controllers";
const SECONDS = 60;

/** What exists before `pulumi up`: a management cluster with Azimuth's simulated controllers. */
export interface AzimuthFixture {
  readonly kubeconfig: string;
  readonly registrar: string;
}

const openCluster = () => new ManagementCluster(FOLDER);

/** Starts the API and the controllers, which a destroy needs to remove finalizers. */
async function resume(context: EquippedContext): Promise<void> {
  if ((await openCluster().running()).includes(CONTROLLERS)) return;
  const { ensureToolchain } = await import("../toolchain/index.js");
  const toolchain = await ensureToolchain({ kubernetes: [KUBERNETES_VERSION] }, context.report);
  await start({ ...context, toolchain });
}

/** The registrar's address has to stay the same: the stack's configuration names it. */
async function registrarPort(): Promise<number> {
  const file = path.join(FOLDER, "registrar-port");
  const kept = await readFile(file, "utf8").catch(() => undefined);
  if (kept !== undefined) return Number(kept);
  const { freePorts } = await import("../management/api-server.js");
  const [port = 0] = await freePorts(1);
  await writeFile(file, String(port));
  return port;
}

function start(context: EquippedContext): Promise<AzimuthFixture> {
  return context.report.step("management cluster with Azimuth's simulated controllers", () =>
    startFixture(context),
  );
}

async function startFixture({ toolchain }: EquippedContext): Promise<AzimuthFixture> {
  const {
    etcd,
    "kube-apiserver": kubeApiserver,
    "kube-controller-manager": kubeControllerManager,
  } = toolchain.kubernetes(KUBERNETES_VERSION);
  const cluster = openCluster();
  const server = await cluster.start(
    { etcd, kubeApiserver, kubeControllerManager },
    { controllers: ["garbage-collector-controller", "namespace-controller"] },
  );
  const port = await registrarPort();
  await cluster.startCompanion({
    name: CONTROLLERS,
    program: process.execPath,
    args: [path.join(__dirname, "..", "azimuth", "main.js"), server.kubeconfigFile, String(port)],
  });
  const kubeconfig = server.kubeconfig();
  await onCluster(kubeconfig, async (client) => {
    await untilServed(client);
    await makeTenancy(client);
  });
  await writeFile(kubeconfigFile(NAME), kubeconfig, { mode: 0o600 });
  return { kubeconfig, registrar: `http://127.0.0.1:${port}` };
}

/** Waits for the last kind that the simulated controllers install. */
async function untilServed(client: KubernetesClient): Promise<void> {
  const { waitFor } = await import("../../lib/wait.js");
  await waitFor<true>({
    what: "the simulated controllers to install Azimuth's kinds",
    seconds: SECONDS,
    probe: async () =>
      (await client.paths.serves(API.zenith, "Reservation"))
        ? { done: true }
        : { pending: await openCluster().tail(CONTROLLERS) },
  });
}

async function onCluster<T>(kubeconfig: string, work: (client: KubernetesClient) => Promise<T>): Promise<T> {
  const client = await KubernetesClient.connect({ kubeconfig }, { seconds: SECONDS });
  try {
    return await work(client);
  } finally {
    client.close();
  }
}

interface Status {
  status?: { phase?: string; nodeCount?: number };
}

/** Checks that the cluster is provisioned and has a record. */
function check({ report }: EquippedContext, { kubeconfig }: AzimuthFixture): Promise<void> {
  return report.step("the cluster is provisioned, and has a record", () => checkCluster(kubeconfig));
}

async function checkCluster(kubeconfig: string): Promise<void> {
  await onCluster(kubeconfig, async (client) => {
    const of = { namespace: TENANCY.namespace, name: "demo" };
    await client.watchUntil<true, Status>({
      ...of,
      apiVersion: API.clusterApi,
      kind: "Cluster",
      what: "the cluster to be provisioned",
      seconds: SECONDS,
      decide: ([cluster]) =>
        cluster?.status?.phase === "Provisioned"
          ? { done: true }
          : { pending: cluster?.status?.phase ?? "no cluster" },
    });
    const record = await client.get<Status>({ ...of, apiVersion: API.azimuth, kind: "Cluster" });
    if (record === undefined) throw new Error(`there is no Cluster ${of.namespace}/${of.name}`);
  });
}

function nextCommands(context: EquippedContext): string[] {
  const kubectl = kubectlOf(context);
  const stack = stackOf({ name: NAME });
  return [
    `export KUBECONFIG=${kubeconfigFile(NAME)}`,
    `${kubectl} --namespace ${TENANCY.namespace} get clusters.azimuth.stackhpc.com,platforms,oidcclients,leases.scheduling.azimuth.stackhpc.com`,
    `npm run status                 # what is running, and how to run pulumi on it by hand`,
    `npx foresail monitor --stack ${stack}    # with those variables: services, as they come and go`,
    `npm stop -- ${NAME}                # destroy`,
  ];
}

/** A cluster through Azimuth, on a management cluster with simulated controllers. */
export const azimuthSystem: System<AzimuthFixture> = {
  name: NAME,
  summary: "a cluster through Azimuth, on a management cluster with simulated controllers",
  needs: {
    programs: ["pulumi", "language-nodejs", "plugin-kubernetes"],
    kubernetes: [KUBERNETES_VERSION],
    nodes: false,
  },
  start,
  configure: ({ registrar, kubeconfig }) => ({
    values: { system: NAME, azimuth: azimuthValues(registrar) },
    secrets: { managementKubeconfig: kubeconfig },
  }),
  postStart: () => Promise.resolve(),
  check,
  resume,
  nextCommands: (context) => nextCommands(context),
  clusters: () => Promise.resolve([]),
  isStarted: async () => (await openCluster().running()).length > 0,
  isGone: () => Promise.resolve(!openCluster().exists()),
  stop: async () => {
    await openCluster().delete();
    await rm(kubeconfigFile(NAME), { force: true });
  },
};
