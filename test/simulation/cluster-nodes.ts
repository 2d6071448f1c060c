import { CLUSTER_OWNER } from "../../providers/kubeadm/plan/facts/owner-record";
import { readFileSync } from "node:fs";
import { KubernetesClient, KubernetesError } from "../../lib/kubernetes";
import { tendPods } from "./simulated-kubelet";

/** How a kubelet registers, as kubeadm's nodeRegistration has it. */
export interface NodeRegistration {
  name: string;
  taints?: { key: string; value?: string; effect: string }[];
  kubeletExtraArgs?: { name: string; value: string }[];
}

const CONTROL_PLANE_LABEL = "node-role.kubernetes.io/control-plane";

/** What the kubelets of the fleet do to the API. */
export class ClusterNodes {
  private connecting: Promise<KubernetesClient> | undefined;

  /** @param kubeconfig path of the bare API server's kubeconfig */
  constructor(
    private readonly kubeconfig: string,
    private readonly version: string,
  ) {}

  /** A new cluster has a new etcd, while the API server of the tests outlives the one before. */
  async beginCluster(machines: readonly string[]): Promise<void> {
    const client = await this.client();
    await client.delete(CLUSTER_OWNER);
    for (const name of machines) await client.delete(reference(name));
  }

  /**
   * A kubelet registers and is Ready.
   *
   * @param isControlPlane whether kubeadm marks the Node, as an `init` or a join does even to a Node that exists
   * @param index gives the pod network
   */
  async register(node: NodeRegistration, isControlPlane: boolean, index: number): Promise<void> {
    const client = await this.client();
    const labels = {
      "kubernetes.io/hostname": node.name,
      "kubernetes.io/os": "linux",
      ...(isControlPlane ? { [CONTROL_PLANE_LABEL]: "" } : {}),
    };
    const podCIDR = `10.${244 + (index >> 8)}.${index & 255}.0/24`;
    try {
      await client.create({
        apiVersion: "v1",
        kind: "Node",
        metadata: { name: node.name, labels },
        spec: { podCIDR, podCIDRs: [podCIDR], taints: node.taints ?? [] },
        status: this.status(node),
      });
    } catch (error) {
      if (!(error instanceof KubernetesError) || error.reason !== "AlreadyExists") throw error;
      await client.mergePatch(reference(node.name), { status: this.status(node) }, { subresource: "status" });
      if (isControlPlane) await this.markControlPlane(node);
    }
  }

  private async markControlPlane({ name, taints = [] }: NodeRegistration): Promise<void> {
    const client = await this.client();
    const has = (await client.getNode(name))?.spec?.taints ?? [];
    const missing = taints.filter(
      ({ key, effect }) => !has.some((taint) => taint.key === key && taint.effect === effect),
    );
    const metadata = { labels: { [CONTROL_PLANE_LABEL]: "" } };
    await client.mergePatch(reference(name), { metadata, spec: { taints: [...has, ...missing] } });
  }

  /** Records that the kubelet's machine lost power, or got it back. */
  async setReady(name: string, isReady: boolean): Promise<void> {
    const client = await this.client();
    if (!(await client.getNode(name))) return;
    const status = { conditions: [readyCondition(isReady)] };
    await client.mergePatch(reference(name), { status }, { subresource: "status" });
  }

  /** A node agent reports on its Node, where there is one. */
  async annotate(name: string, annotations: Record<string, string>): Promise<void> {
    const client = await this.client();
    if (await client.getNode(name)) await client.mergePatch(reference(name), { metadata: { annotations } });
  }

  /** Whether the API holds this bootstrap token, "id.secret". */
  async hasToken(token: string): Promise<boolean> {
    const [id, secret] = token.split(".");
    const name = `bootstrap-token-${id}`;
    const client = await this.client();
    const reference = { apiVersion: "v1", kind: "Secret", namespace: "kube-system", name };
    const held = await client.get<{ data?: Record<string, string> }>(reference);
    return Buffer.from(held?.data?.["token-secret"] ?? "", "base64").toString() === secret;
  }

  /** Pods of the machines that are on begin and end as kubelets would have them. Ends with the process. */
  async tendPods(isOn: (machine: string) => boolean): Promise<void> {
    await tendPods(await this.client(), isOn);
  }

  /** Ends the connection, if there is one. */
  close(): void {
    this.connecting?.then(
      (client) => client.close(),
      () => undefined,
    );
  }

  private client(): Promise<KubernetesClient> {
    const kubeconfig = readFileSync(this.kubeconfig, "utf8");
    this.connecting ??= KubernetesClient.connect(
      { kubeconfig },
      { seconds: 30, userAgent: "simulated-kubelet" },
    );
    return this.connecting;
  }

  private status(node: NodeRegistration): object {
    const address = node.kubeletExtraArgs?.find(({ name }) => name === "node-ip")?.value ?? "127.0.0.1";
    const unknown = "simulated";
    return {
      conditions: [readyCondition(true)],
      addresses: [
        { type: "InternalIP", address },
        { type: "Hostname", address: node.name },
      ],
      capacity: { cpu: "2", memory: "4Gi", pods: "110" },
      allocatable: { cpu: "2", memory: "4Gi", pods: "110" },
      nodeInfo: {
        kubeletVersion: this.version,
        kubeProxyVersion: this.version,
        machineID: unknown,
        systemUUID: unknown,
        bootID: unknown,
        kernelVersion: unknown,
        osImage: unknown,
        containerRuntimeVersion: "containerd://simulated",
        operatingSystem: "linux",
        architecture: "amd64",
      },
    };
  }
}

function readyCondition(isReady: boolean): object {
  const at = new Date().toISOString().replace(/\.\d+/, "");
  return {
    type: "Ready",
    status: isReady ? "True" : "Unknown",
    reason: isReady ? "KubeletReady" : "NodeStatusUnknown",
    message: isReady ? "kubelet is posting ready status" : "Kubelet stopped posting node status.",
    lastHeartbeatTime: at,
    lastTransitionTime: at,
  };
}

function reference(name: string) {
  return { apiVersion: "v1", kind: "Node", name };
}
