import { KubernetesClient, type NewObject } from "../../lib/kubernetes";

const CONTAINERS = [{ name: "main", image: "registry.k8s.io/pause:3.10" }];

/** Kubernetes objects such as a plain kubeadm cluster has, that foresail never touched. */
export class PlanCluster {
  constructor(private readonly client: KubernetesClient) {}

  async node(name: string, version: string): Promise<void> {
    const labels: Record<string, string> = name.startsWith("cp")
      ? { "node-role.kubernetes.io/control-plane": "" }
      : {};
    await this.client.create({ apiVersion: "v1", kind: "Node", metadata: { name, labels } });
    const condition = {
      type: "Ready",
      status: "True",
      reason: "KubeletReady",
      message: "ready",
      lastHeartbeatTime: "2026-01-01T00:00:00Z",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    };
    const status = { conditions: [condition], nodeInfo: nodeInfo(version) };
    await this.client.mergePatch(
      { apiVersion: "v1", kind: "Node", name },
      { status },
      { subresource: "status" },
    );
  }

  async kubeadmConfig(version: string): Promise<void> {
    const data = { ClusterConfiguration: `kind: ClusterConfiguration\nkubernetesVersion: v${version}\n` };
    await this.create("v1", "ConfigMap", "kube-system", "kubeadm-config", { data });
  }

  async namespace(name: string): Promise<void> {
    await this.client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
  }

  async pod(
    name: string,
    node: string,
    over: { owner?: string; emptyDir?: string; app?: string; claim?: string },
  ): Promise<void> {
    const owner = { apiVersion: "apps/v1", kind: over.owner, name: "x", uid: "1", controller: true };
    const metadata = {
      labels: { app: over.app ?? "none" },
      ...(over.owner ? { ownerReferences: [owner] } : {}),
    };
    const volumes = [
      ...(over.emptyDir ? [{ name: over.emptyDir, emptyDir: {} }] : []),
      ...(over.claim ? [{ name: "data", persistentVolumeClaim: { claimName: over.claim } }] : []),
    ];
    const spec = { nodeName: node, containers: CONTAINERS, volumes };
    await this.create("v1", "Pod", "shop", name, { spec }, metadata);
    const ref = { apiVersion: "v1", kind: "Pod", namespace: "shop", name };
    const status = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
    await this.client.mergePatch(ref, { status }, { subresource: "status" });
  }

  /** The mirror Pod of a control plane's API server. */
  async apiServer(node: string, port: number): Promise<void> {
    const annotations = {
      "kubernetes.io/config.mirror": "x",
      "kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint": `127.0.0.1:${port}`,
    };
    const spec = { nodeName: node, containers: CONTAINERS };
    await this.create("v1", "Pod", "kube-system", `kube-apiserver-${node}`, { spec }, { annotations });
  }

  /** A claim with a local volume that the workers have. */
  async claim(name: string): Promise<void> {
    const storage = { storageClassName: "local", accessModes: ["ReadWriteOnce"] };
    const expression = { key: "node-role.kubernetes.io/control-plane", operator: "DoesNotExist" };
    await this.client.create({
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name },
      spec: {
        ...storage,
        capacity: { storage: "1Gi" },
        local: { path: "/srv" },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [expression] }] } },
      },
    });
    const spec = { ...storage, volumeName: name, resources: { requests: { storage: "1Gi" } } };
    await this.create("v1", "PersistentVolumeClaim", "shop", name, { spec });
  }

  /** A budget of two pods that needs both, or one of them. */
  async budget(name: string, app: string, minAvailable = 2): Promise<void> {
    const spec = { minAvailable, selector: { matchLabels: { app } } };
    await this.create("policy/v1", "PodDisruptionBudget", "shop", name, { spec });
    const disruptionsAllowed = 2 - minAvailable;
    const status = { disruptionsAllowed, currentHealthy: 2, desiredHealthy: minAvailable, expectedPods: 2 };
    const ref = { apiVersion: "policy/v1", kind: "PodDisruptionBudget", namespace: "shop", name };
    await this.client.mergePatch(ref, { status }, { subresource: "status" });
  }

  /** A ServiceAccount with this ClusterRole. @returns its token */
  async reader(name: string, role: NewObject): Promise<string> {
    const namespace = "kube-system";
    await this.client.apply({ ...role, metadata: { name } });
    await this.create("v1", "ServiceAccount", namespace, name, {});
    await this.client.create({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
      subjects: [{ kind: "ServiceAccount", namespace, name }],
    });
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
    const made = await this.client.call<{ status: { token: string } }>({ method: "POST", path, body }, false);
    return made.status.token;
  }

  private async create(
    apiVersion: string,
    kind: string,
    namespace: string,
    name: string,
    rest: object,
    metadata = {},
  ) {
    await this.client.create({ apiVersion, kind, metadata: { ...metadata, name, namespace }, ...rest });
  }
}

function nodeInfo(version: string): Record<string, string> {
  return {
    kubeletVersion: `v${version}`,
    kubeProxyVersion: "",
    machineID: "",
    systemUUID: "",
    bootID: "",
    kernelVersion: "",
    osImage: "",
    containerRuntimeVersion: "",
    operatingSystem: "linux",
    architecture: "amd64",
  };
}
