import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { ETCD_SILENT } from "../../providers/kubeadm/machine/membership/etcd-steps";
import type { Machine } from "../../providers/kubeadm/plan/cluster/machine";
import type { KubernetesObject } from "../../lib/kubernetes";
import type { RolloutSettings } from "../../providers/kubeadm/plan/rollout/desired";
import { removeFolder } from "../engine/compiled-clone";
import { FakeAgents, putClusterVersion, seenWrites } from "../simulation/fake-agents";
import { TestAuthority } from "../support/certificates";
import { kubeconfigOf, TestKubernetesServer } from "../support/kubernetes-server";
import { answerSteps, TestSshServer } from "../support/ssh-server";
import { exampleMachine, exampleSpecification } from "../unit/providers/kubeadm/machine/examples";
import { common, drain, rollout } from "./handler-samples";
import { ProviderHost } from "./provider-host";

export const KEY = "kubeadm/NodeRollout";
export const OLD = "1.35.4";
export const NEW = "1.36.3";

/** The nodes of a preview's lines, as `openings` has them. */
export function openingsOf(steps: string[]): string[] {
  return steps.map((step) => `${step.split(" ")[0]} opened`);
}

/** A fake cluster whose nodes have agents, and the provider host that rolls it out. */
export class RolloutFixture {
  host!: ProviderHost;
  agents!: FakeAgents;
  /** names of etcd members that are not healthy */
  readonly illMembers = new Set<string>();
  /** what machines say about a version of containerd */
  offer = "offered";
  /** how many more requests etcd leaves without a response */
  etcdSilences = 0;
  private names: string[] = [];
  private readonly folder = mkdtempSync(path.join(tmpdir(), "foresail-rollout-"));
  private readonly authority = new TestAuthority(this.folder);
  private readonly ssh = new TestSshServer(
    answerSteps((operation) => {
      if (operation === "package-offer") return this.offer;
      if (this.etcdSilences === 0) return this.etcdAnswer();
      this.etcdSilences -= 1;
      return ETCD_SILENT;
    }),
  );
  readonly server = new TestKubernetesServer(this.authority.issue("server", "/CN=server", ["IP:127.0.0.1"]));

  async start(): Promise<void> {
    this.host = await ProviderHost.inClone();
    await this.server.listen();
    await this.ssh.listen();
  }

  async stop(): Promise<void> {
    this.agents?.stop();
    await this.host?.stop();
    await this.server.close();
    await this.ssh.close();
    removeFolder(this.folder);
  }

  /** A fresh cluster with these nodes, all at one version. */
  reset(names: string[], version = OLD): void {
    const { store } = this.server;
    this.agents?.stop();
    this.names = names;
    this.illMembers.clear();
    this.etcdSilences = 0;
    this.offer = "offered";
    this.server.intercept = () => undefined;
    store.objects.clear();
    store.log.length = 0;
    putClusterVersion(store, version);
    for (const name of names) this.putNode(name, version);
    this.agents = new FakeAgents(store);
  }

  /** @param annotations beside those of an idle agent, without which is null */
  putNode(
    name: string,
    version: string,
    over: { annotations?: Record<string, string>; ready?: boolean | "Unknown"; unschedulable?: boolean } = {},
  ): void {
    const { role, group } = exampleMachine(name);
    const { ready = true, unschedulable } = over;
    const currents = Object.fromEntries(
      ["kubelet", "kubeadm", "kubectl"].map((software) => [
        `alpha.${software}.caos.ch/current-version`,
        `v${version}`,
      ]),
    ) as Record<string, string>;
    this.server.store.put(`/api/v1/nodes/${name}`, {
      apiVersion: "v1",
      kind: "Node",
      metadata: {
        name,
        labels: {
          "foresail/group": group,
          [`node-role.kubernetes.io/${role === "worker" ? group : role}`]: "",
        },
        annotations: {
          "alpha.node.caos.ch/ready": "true",
          ...currents,
          ...over.annotations,
        },
      },
      spec: unschedulable ? { unschedulable } : {},
      status: {
        conditions: [
          {
            type: "Ready",
            status: ready === "Unknown" ? ready : ready ? "True" : "False",
            reason: "KubeletNotReady",
          },
        ],
        nodeInfo: { kubeletVersion: `v${version}` },
        addresses: [{ type: "InternalIP", address: exampleMachine(name).internalAddress }],
      },
    });
  }

  dropLabel(name: string, label: string): void {
    const path = `/api/v1/nodes/${name}`;
    const node = this.server.store.objects.get(path)!;
    const { [label]: _, ...labels } = node.metadata?.labels ?? {};
    this.server.store.put(path, { ...node, metadata: { ...node.metadata, labels } });
  }

  /** @param runtime as the kubelet reports it, "containerd://1.7.24" */
  setRuntime(name: string, runtime: string): void {
    const path = `/api/v1/nodes/${name}`;
    const node = this.server.store.objects.get(path) as KubernetesObject & { status: { nodeInfo: object } };
    const nodeInfo = { ...node.status.nodeInfo, containerRuntimeVersion: runtime };
    this.server.store.put(path, { ...node, status: { ...node.status, nodeInfo } });
  }

  putPod(name: string, nodeName: string): void {
    this.server.store.put(`/api/v1/namespaces/web/pods/${name}`, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name,
        namespace: "web",
        labels: { app: "web" },
        ownerReferences: [{ kind: "ReplicaSet", name: "web", controller: true }],
      },
      spec: { nodeName },
      status: { phase: "Running" },
    });
  }

  /** Writes annotations of a Node, as its agent does. */
  annotate(name: string, annotations: Record<string, string>): void {
    const node = this.node(name) as unknown as KubernetesObject;
    const metadata = { ...node.metadata, annotations: { ...node.metadata?.annotations, ...annotations } };
    this.server.store.put(`/api/v1/nodes/${name}`, { ...node, metadata });
  }

  /** Calls a function after each write with every Node. @returns what ends it */
  onWrite(seen: (node: ReturnType<RolloutFixture["node"]>) => void): () => void {
    const { listeners } = this.server.store;
    const listener = () => setImmediate(() => this.names.forEach((name) => seen(this.node(name))));
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  node(name: string) {
    return this.server.store.objects.get(`/api/v1/nodes/${name}`) as unknown as {
      metadata: { name: string; annotations: Record<string, string> };
      spec: { unschedulable?: boolean };
      status: { nodeInfo: { kubeletVersion: string } };
    };
  }

  /** The resource's arguments. */
  desired(version: string, over: Partial<RolloutSettings> = {}, names = this.names): object {
    return {
      ...common,
      credentials: { privateKey: this.ssh.userKey.private },
      timeouts: { ...common.timeouts, ssh: 5, ready: 3 },
      specification: exampleSpecification({ version }),
      machines: names.map((name) => this.machine(name)),
      rollout: { ...rollout, ...over },
      drain: { ...drain, timeoutSeconds: 5 },
      kubeconfig: kubeconfigOf(this.authority, [this.server]),
    };
  }

  check(olds: object, news: object) {
    return this.host.check(KEY, olds, news);
  }

  /** What the preview lists. */
  async stepsOf(news: object, olds = news): Promise<string[]> {
    return (await this.check(olds, news)).inputs.steps as string[];
  }

  update(news: object, olds: object = this.desired(OLD)) {
    return this.host.update(KEY, olds, news);
  }

  /** The nodes whose window was opened, in order: "w-1 opened". */
  openings(): string[] {
    return this.seen().filter((line) => line.endsWith(" opened"));
  }

  history(): string[] {
    const path = "/api/v1/namespaces/kube-system/configmaps/foresail-history";
    const object = this.server.store.objects.get(path) as unknown as { data: { history: string } };
    return object.data.history.trimEnd().split("\n");
  }

  /** What an observer saw of the nodes' annotations. */
  seen(): string[] {
    return seenWrites(this.server.store);
  }

  forget(): void {
    const { store } = this.server;
    store.log.length = 0;
    for (const [path, object] of [...store.objects]) store.put(path, object);
  }

  private machine(name: string): Machine {
    return exampleMachine(name, {
      address: "127.0.0.1",
      port: this.ssh.port,
      hostKey: this.ssh.hostKey.public,
      apiServer: `127.0.0.1:${this.server.port}`,
    });
  }

  private etcdAnswer(): string {
    const planes = this.names.filter((name) => name.startsWith("cp"));
    const members = planes.map((name, index) => ({
      ID: String(index + 1),
      name,
      peerURLs: [`https://${name}:2380`],
      clientURLs: [`https://${name}:2379`],
    }));
    const healthy = planes.filter((name) => !this.illMembers.has(name));
    return [JSON.stringify({ members }), ...healthy.map((name) => `healthy https://${name}:2379`), ""].join(
      "\n",
    );
  }
}
