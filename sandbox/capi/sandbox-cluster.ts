import path from "node:path";
import { KubernetesClient } from "../../lib/kubernetes";
import { waitFor } from "../../lib/wait";
import { type ApiServer, type ApiServerPrograms, freePorts } from "../management/api-server";
import { installDefinitions, readObjects } from "../management/definitions";
import type { ManagementCluster } from "../management/management-cluster";
import { providerDefinitions, SANDBOX_KINDS } from "./kinds";
import { managerCommand, managerDefinitions } from "./manager";
import { registerCluster } from "./workload-cluster";

/** The cluster that the pools belong to. */
export const POOL_CLUSTER = { namespace: "demo", name: "demo" };
/** So that users see the machines appear one after another. */
const MACHINE_MILLISECONDS = 1500;
const MANAGER = "cluster-api-manager";
const PROVIDERS = "providers";
const READY_SECONDS = 90;

interface CapiPrograms extends ApiServerPrograms {
  /** Cluster API's core manager. */
  readonly manager: string;
}

/**
 * Starts a management cluster with Cluster API's core manager and the sandbox's own providers, and creates the Cluster
 * whose pools they serve. Running processes are kept.
 *
 * @returns the API server, which is the workload cluster's too
 */
export async function startCapi(cluster: ManagementCluster, programs: CapiPrograms): Promise<ApiServer> {
  const server = await cluster.start(programs, {
    controllers: ["garbage-collector-controller", "namespace-controller"],
  });
  const kubernetes = await KubernetesClient.connect(
    { kubeconfig: server.kubeconfig() },
    { seconds: READY_SECONDS },
  );
  try {
    const running = await cluster.running();
    if (!running.includes(MANAGER)) {
      const definitions = await readObjects(await managerDefinitions(programs.manager));
      await installDefinitions(kubernetes, [...definitions, ...providerDefinitions(SANDBOX_KINDS)]);
      await startManager(cluster, server, programs.manager);
    }
    const program = path.join(__dirname, "main.js");
    const args = [program, server.kubeconfigFile, String(MACHINE_MILLISECONDS)];
    await cluster.startCompanion({ name: PROVIDERS, program: process.execPath, args });
    await registerCluster(kubernetes, POOL_CLUSTER, server.kubeconfig());
  } finally {
    kubernetes.close();
  }
  return server;
}

async function startManager(cluster: ManagementCluster, server: ApiServer, program: string): Promise<void> {
  const [webhook = 0, diagnostics = 0, health = 0] = await freePorts(3);
  await cluster.startCompanion({
    name: MANAGER,
    ...managerCommand(program, server, { webhook, diagnostics, health }),
  });
  try {
    await untilManagerReady(health, READY_SECONDS);
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${await cluster.tail(MANAGER)}`, { cause: error });
  }
}

/** Waits until the manager reports that it is ready. @param port of its health probes */
export function untilManagerReady(port: number, seconds: number): Promise<void> {
  return waitFor<void>({
    what: "Cluster API's manager to be ready",
    seconds,
    longestPauseMilliseconds: 500,
    probe: async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
      return answer?.ok ? { done: undefined } : { pending: "not ready" };
    },
  });
}
