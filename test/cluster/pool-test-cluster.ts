import { KubernetesClient } from "../../lib/kubernetes";
import { certificateAuthority } from "../../providers/kubeadm/machine/cluster/kubeconfig";
import type { ClusterSpecification } from "../../providers/kubeadm/plan/cluster/specification";
import { newBootstrapToken } from "../../providers/kubeadm/resources/membership/node-joining";
import { ContainerNodes } from "../../sandbox/capi/container-nodes";
import { kubeadmJoinData } from "../../sandbox/capi/kubeadm-join-data";
import { containerNodeSettings } from "../../sandbox/nodes";
import { KUBERNETES_VERSION } from "../../sandbox/systems/ssh-configuration";
import { ensureToolchain } from "../../sandbox/toolchain";
import { makeCompiledClone, removeFolder } from "../engine/compiled-clone";
import { poolConfiguration, poolStack } from "../engine/machine-pool-fixture";
import { apiPrograms } from "../engine/simulated-fixture";
import type { TestStack } from "../engine/test-stack";
import { CapiFixture } from "../simulation/capi-fixture";
import { exampleSpecification } from "../unit/providers/kubeadm/machine/examples";
import { silent, TestCluster } from "./test-cluster";

/** The one control plane, which foresail made; every other node is a machine pool's. */
export const CONTROL_PLANE = "cp-1";
const STAGE_SECONDS = 180;
const UP_SECONDS = 300;

/** Settings by which the cluster notices that a kubelet has stopped in 20 s instead of 50 s. */
const SOON_NOT_READY = {
  kubelet: { ...containerNodeSettings.kubelet, nodeLeaseDurationSeconds: 12 },
  kubeadm: {
    clusterConfiguration: {
      ...containerNodeSettings.kubeadm.clusterConfiguration,
      controllerManager: { extraArgs: [{ name: "node-monitor-grace-period", value: "20s" }] },
    },
  },
};

/**
 * A real cluster of one control plane, whose workers are the machines of a MachinePool: container nodes that Cluster API's
 * own manager counts and that kubeadm joins.
 */
export class PoolTestCluster {
  private constructor(
    readonly cluster: TestCluster,
    readonly capi: CapiFixture,
    readonly stack: TestStack,
    private readonly workload: KubernetesClient,
    private readonly folder: string,
  ) {}

  /** @param name of the fleet and the workload cluster */
  static async create(name: string): Promise<PoolTestCluster> {
    const cluster = await TestCluster.open(name);
    const closers: (() => Promise<unknown> | void)[] = [() => cluster.remove()];
    try {
      const host = await makeControlPlane(cluster);
      const { text: kubeconfig } = await cluster.kubeconfig();
      const workload = await KubernetesClient.connect({ kubeconfig }, { seconds: 60 });
      closers.unshift(() => workload.close());
      const toolchain = await ensureToolchain(
        { programs: ["pulumi", "language-nodejs", "cluster-api"], kubernetes: [KUBERNETES_VERSION] },
        silent,
      );
      const specification = workerSpecification(name, host);
      const capi = new CapiFixture({
        programs: apiPrograms(toolchain),
        manager: toolchain.program("cluster-api"),
        workload: {
          kubeconfig,
          machines: new ContainerNodes(workload, cluster.fleet, [KUBERNETES_VERSION]),
          joinData: async () => {
            const { token, object } = newBootstrapToken(`machine pools of ${name}`);
            await workload.create(object);
            return kubeadmJoinData(specification, {
              certificateAuthority: certificateAuthority(kubeconfig),
              token,
            });
          },
        },
      });
      closers.unshift(() => capi.stop());
      await capi.start();
      const folder = makeCompiledClone();
      closers.unshift(() => removeFolder(folder));
      const stack = await poolStack({ capi, folder, toolchain }, "pool-nodes", UP_SECONDS);
      return new PoolTestCluster(cluster, capi, stack, workload, folder);
    } catch (error) {
      for (const close of closers) await close();
      throw error;
    }
  }

  /** Writes the stack's configuration. @param flavor another one is another template */
  configure(replicas: number, flavor = "small"): void {
    const timeouts = {
      bootstrapSeconds: STAGE_SECONDS,
      infrastructureSeconds: STAGE_SECONDS,
      nodesSeconds: STAGE_SECONDS,
      deletionSeconds: STAGE_SECONDS,
    };
    const fields = { replicas, version: KUBERNETES_VERSION, timeouts };
    this.stack.configure(poolConfiguration(fields, { spec: { template: { flavor } } }));
  }

  /** Runs `up`, which has to succeed. @throws Error with what the engine and the fakes printed */
  async up(): Promise<void> {
    await this.stack.up().catch((error: Error) => {
      throw new Error([error.message, ...this.capi.complaints].join("\n"), { cause: error });
    });
  }

  /** The workers' Nodes in the workload cluster, by name. */
  async workers(): Promise<{ name: string; providerID?: string; version?: string; ready: boolean }[]> {
    const nodes = await this.workload.listNodes();
    return nodes
      .map(({ metadata, spec, status }) => ({
        name: metadata?.name ?? "",
        providerID: spec?.providerID,
        version: status?.nodeInfo?.kubeletVersion,
        ready: (status?.conditions ?? []).some(({ type, status: is }) => type === "Ready" && is === "True"),
      }))
      .filter(({ name }) => name !== CONTROL_PLANE)
      .sort((one, other) => one.name.localeCompare(other.name, "en", { numeric: true }));
  }

  /** Removes everything. */
  async remove(): Promise<void> {
    await this.capi.stop();
    this.workload.close();
    await this.cluster.remove();
    removeFolder(this.folder);
  }
}

/** @returns the address of its API server among the nodes */
async function makeControlPlane(cluster: TestCluster): Promise<string> {
  const [node] = await cluster.fleet.ensure([{ name: CONTROL_PLANE, bundles: [KUBERNETES_VERSION] }], silent);
  const host = node?.internalAddress ?? "";
  const fields = { ...SOON_NOT_READY, endpoint: { external: { host, port: 6443 } } };
  await cluster.configure({ machines: [CONTROL_PLANE], fields });
  await cluster.up();
  return host;
}

/** What a bootstrap provider needs to know about the cluster to prepare a worker. */
function workerSpecification(name: string, host: string): ClusterSpecification {
  const { kubelet, ignorePreflightErrors } = containerNodeSettings;
  return exampleSpecification({
    ...{ name, version: KUBERNETES_VERSION, kubelet, ignorePreflightErrors },
    source: { bundle: { path: "/opt/foresail/bundle/v{version}" } },
    endpoint: { external: { host, port: 6443 } },
  });
}
