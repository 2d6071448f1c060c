import { readFile } from "node:fs/promises";
import type { KubernetesClient } from "../../lib/kubernetes";
import { SshConnection } from "../../lib/ssh";
import { type NodeFleet, nodeKeyFile, type SandboxNode } from "../nodes";
import type { Reporter } from "../progress";
import type { Instance } from "./kinds";
import { fillIn } from "./kubeadm-join-data";
import { isNodeReady, type MachineOrder, type PoolMachines } from "./machines";

const SSH_SECONDS = 60;
const BOOT_SECONDS = 300;
const silent: Reporter = { step: (_title, work) => work(() => undefined) };

/** Machines that are container nodes on this host and run their join data as cloud-init would. */
export class ContainerNodes implements PoolMachines {
  private queue: Promise<unknown> = Promise.resolve();

  /**
   * @param fleet whose network reaches the workload cluster's control planes
   * @param bundles Kubernetes versions whose images are preloaded on each machine
   */
  constructor(
    private readonly workload: KubernetesClient,
    private readonly fleet: NodeFleet,
    private readonly bundles: readonly string[],
  ) {}

  prepare(): Promise<void> {
    return Promise.resolve();
  }

  /** @throws Error when its join data failed, with the last lines of its output */
  async create({ name }: Instance, { providerID, data, fault }: MachineOrder): Promise<void> {
    if (fault === "not-ready") throw new Error(`${name}: container nodes can't be asked to be not Ready`);
    const [node] = await this.inTurn(() => this.fleet.ensure([{ name, bundles: this.bundles }], silent));
    if (node === undefined || fault === "no-node") return;
    await boot(node, fillIn(data, { hostname: name, address: node.internalAddress, providerID }));
  }

  async delete(name: string): Promise<void> {
    await this.inTurn(() => this.fleet.delete(name));
    // as a cloud controller does for a deleted server
    await this.workload.delete({ apiVersion: "v1", kind: "Node", name });
  }

  async isReady({ name, version }: Instance): Promise<boolean> {
    const node = await this.workload.getNode(name);
    return isNodeReady(node) && node?.status?.nodeInfo?.kubeletVersion === version;
  }

  /** Containers are created one after another, because two at once would choose the same ports and addresses. */
  private inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.queue.then(work);
    this.queue = result.catch(() => undefined);
    return result;
  }
}

async function boot(node: SandboxNode, script: string): Promise<void> {
  const { name, address, sshPort: port, user, hostKey } = node;
  const privateKey = await readFile(nodeKeyFile, "utf8");
  const target = { name, address, port, user, hostKey, privateKey };
  const connection = await SshConnection.open(target, { seconds: SSH_SECONDS });
  try {
    await connection.run("sudo -n bash -s", { name: "boot", stdin: script, seconds: BOOT_SECONDS });
  } finally {
    connection.close();
  }
}
