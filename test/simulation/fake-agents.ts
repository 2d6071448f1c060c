import { annotationKeys, KUBERNETES_SOFTWARE } from "../../providers/kubeadm/plan/rollout/annotations";
import type { KubernetesObject } from "../../lib/kubernetes";
import type { TestStore } from "../support/kubernetes-server";

const KEYS = annotationKeys();
const CONFIGURATION = "/api/v1/namespaces/kube-system/configmaps/kubeadm-config";
const NODES = "/api/v1/nodes/";
const WORK_MILLISECONDS = 20;

interface NodeObject extends KubernetesObject {
  metadata: { name: string; labels: Record<string, string>; annotations: Record<string, string> };
  spec: { unschedulable?: boolean };
  status: { conditions: object[]; nodeInfo: { kubeletVersion: string } };
}

/** How an agent misbehaves. */
type Misbehavior = "never begins" | "fails" | "never Ready";

/** Puts the version that kubeadm keeps. */
export function putClusterVersion(store: TestStore, version: string): void {
  store.put(CONFIGURATION, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "kubeadm-config", namespace: "kube-system" },
    data: { ClusterConfiguration: `kubernetesVersion: v${version}\n` },
  });
}

/** The node agents and kubelets of the nodes in a fake cluster: they follow the annotations. */
export class FakeAgents {
  readonly misbehaving = new Map<string, Misbehavior>();
  private readonly working = new Set<string>();
  private readonly react = () => this.look();

  constructor(private readonly store: TestStore) {
    store.listeners.add(this.react);
  }

  stop(): void {
    this.store.listeners.delete(this.react);
  }

  /** Simulates a restart of every agent: it retries what it gave up. */
  restart(): void {
    this.working.clear();
    this.look();
  }

  /** Reads every node, as an agent does that has just started. */
  look(): void {
    for (const [path, object] of this.store.objects) {
      if (!path.startsWith(NODES)) continue;
      const node = object as NodeObject;
      const { name, annotations } = node.metadata;
      const isDue = KUBERNETES_SOFTWARE.some(
        (software) =>
          annotations[KEYS.desired(software)] !== undefined &&
          annotations[KEYS.desired(software)] !== annotations[KEYS.current(software)],
      );
      const isBroken = this.misbehaving.get(name) === "never begins" || this.working.has(name);
      if (annotations[KEYS.changesAllowed] !== "true" || !isDue || isBroken) continue;
      this.working.add(name);
      setTimeout(() => this.begin(path), WORK_MILLISECONDS);
    }
  }

  private begin(path: string): void {
    const node = this.patch(path, { [KEYS.ready]: "false" });
    const behavior = this.misbehaving.get(node.metadata.name);
    setTimeout(() => {
      // an agent that fails reports it and counts as running from then on
      if (behavior === "fails") return this.patch(path, { [KEYS.message]: "the source has no such version" });
      this.end(path, behavior !== "never Ready");
      this.working.delete(node.metadata.name);
    }, WORK_MILLISECONDS);
  }

  private end(path: string, isReady: boolean): void {
    const before = this.store.objects.get(path) as NodeObject;
    const wanted = before.metadata.annotations[KEYS.desired("kubelet")] ?? "";
    const isControlPlane = "node-role.kubernetes.io/control-plane" in before.metadata.labels;
    if (isControlPlane) putClusterVersion(this.store, wanted.slice(1));
    const condition = isReady
      ? { type: "Ready", status: "True" }
      : { type: "Ready", status: "False", reason: "KubeletNotReady", message: "no network" };
    this.store.put(path, {
      ...before,
      status: { conditions: [condition], nodeInfo: { kubeletVersion: wanted } },
    });
    const currents = KUBERNETES_SOFTWARE.map((software) => [KEYS.current(software), wanted]);
    this.patch(path, {
      ...(Object.fromEntries(currents) as Record<string, string>),
      [KEYS.ready]: "true",
    });
  }

  private patch(path: string, annotations: Record<string, string>): NodeObject {
    const node = this.store.objects.get(path) as NodeObject;
    const metadata = { ...node.metadata, annotations: { ...node.metadata.annotations, ...annotations } };
    return this.store.put(path, { ...node, metadata }) as NodeObject;
  }
}

/** What an observer saw of one Node's writes, in order: "w-1 opened", "w-1 asked for 1.36.3", "w-1 closed". */
export function seenWrites(store: TestStore): string[] {
  const last = new Map<string, NodeObject>();
  const seen: string[] = [];
  for (const { path, object } of store.log) {
    if (!path.startsWith(NODES)) continue;
    const node = object as NodeObject;
    const before = last.get(path);
    last.set(path, node);
    if (!before) continue;
    const { name, annotations } = node.metadata;
    const changed = (key: string) => before.metadata.annotations[key] !== annotations[key];
    if (changed(KEYS.changesAllowed))
      seen.push(`${name} ${annotations[KEYS.changesAllowed] === "true" ? "opened" : "closed"}`);
    if (Boolean(before.spec.unschedulable) !== Boolean(node.spec.unschedulable))
      seen.push(`${name} ${node.spec.unschedulable ? "cordoned" : "uncordoned"}`);
    if (changed(KEYS.desired("kubelet")))
      seen.push(`${name} asked for ${annotations[KEYS.desired("kubelet")]?.slice(1)}`);
  }
  return seen;
}
