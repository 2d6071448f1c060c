/** A version rollout under the engine: simulated machines, playing agents, and a gate that sees every write. */
import assert from "node:assert/strict";
import type { Node } from "../../lib/kubernetes";
import type { MachineState } from "../simulation/fleet-files";
import { linesOf, podOn, rolledTwice, type RolloutWrite } from "../simulation/rollout-writes";
import { obeyAnnotations } from "../simulation/simulated-agents";
import { WriteGate } from "../simulation/write-gate";
import { ClusterSnapshot, describeCluster } from "./cluster-snapshot";
import { desiredCluster } from "./desired-cluster";
import { closeFixture, openFixture, SET_UP_MILLISECONDS, type SimulatedFixture } from "./simulated-fixture";
import type { TestStack } from "./test-stack";

export const OLD = "1.35.4";
export const NEW = "1.36.3";

/** What is wrong with an agent. */
export type AgentUnit = NonNullable<MachineState["agentUnit"]>;

const AGENT_MILLISECONDS = 20;
const CONFIGURATION = {
  apiVersion: "v1",
  kind: "ConfigMap",
  namespace: "kube-system",
  name: "kubeadm-config",
};

/** "opened w-1": a short form of a write. */
export function deedOf({ what, node }: RolloutWrite): string {
  return `${what} ${node}`;
}

/** A cluster at the old version whose stack is up, with a pod on each node. */
export class VersionRollout {
  gate!: WriteGate;
  private fresh!: ClusterSnapshot;
  private agents!: Promise<void>;
  private readonly ended = new AbortController();
  private stopping?: { node: string; unit: AgentUnit } | undefined;
  /** The Node whose agent was stopped when it was asked. */
  stopped?: string | undefined;

  constructor(
    readonly ground: SimulatedFixture,
    readonly machines: readonly string[],
  ) {}

  async open(): Promise<void> {
    const { kubernetes, stack } = this.ground;
    const { apiVersion, kind, ...metadata } = CONFIGURATION;
    await kubernetes.create({ apiVersion, kind, metadata, ...clusterAt(OLD) });
    const { signal } = this.ended;
    const staged = (node: string) => this.ground.fleet.state(node).staged ?? [];
    const runs = (node: string) => this.agentRuns(node);
    const milliseconds = AGENT_MILLISECONDS;
    this.agents = obeyAnnotations(kubernetes, [], { milliseconds, signal, staged, runs });
    this.want(OLD);
    await stack.up();
    this.fresh = await ClusterSnapshot.take(this.ground);
    this.gate = await WriteGate.open(kubernetes, this.machines[0]!);
    await this.startOver();
  }

  async close(): Promise<void> {
    await this.gate?.close(this.ground.kubernetes);
    this.ended.abort();
    await this.agents;
  }

  /** Writes the desired version into a stack's file. */
  want(
    version: string,
    rollout: object = {},
    others: object = {},
    stack: TestStack = this.ground.stack,
  ): void {
    const desired = desiredCluster(this.ground.fleet, [...this.machines], { version, rollout, ...others });
    stack.configure({ cluster: desired });
  }

  /** Takes the cluster as it is now for the one as it was before the rollout. */
  async keep(): Promise<void> {
    this.fresh = await ClusterSnapshot.take(this.ground);
  }

  /** The cluster as it was before the rollout, the desired new version, and nothing observed. */
  async startOver(rollout: object = {}): Promise<void> {
    this.gate.release();
    this.stopping = this.stopped = undefined;
    await this.fresh.restore();
    await this.ground.kubernetes.mergePatch(CONFIGURATION, clusterAt(OLD));
    await this.putPods();
    this.gate.writes.length = 0;
    this.want(NEW, rollout);
  }

  /** The rollout's steps in a preview of now; undefined when there is nothing to do. */
  async steps(): Promise<string[] | undefined> {
    const found = (await this.ground.stack.preview()).find(({ name }) => name === "test-rollout");
    return found?.inputs.steps as string[] | undefined;
  }

  get deeds(): string[] {
    return this.gate.writes.map(deedOf);
  }

  /** Asserts that what was seen is what was listed, once and no more. */
  expectDone(listed: readonly string[] | undefined): void {
    assert.deepEqual(rolledTwice(this.gate.writes), []);
    assert.deepEqual(linesOf(this.gate.writes), listed);
  }

  /** All that a rollout leaves behind, with the annotations that it communicates by. */
  async whatIsLeft(): Promise<unknown> {
    const { kubernetes } = this.ground;
    const nodes = (await kubernetes.listNodes()).map((node: Node) => ({
      name: node.metadata?.name,
      kubelet: node.status?.nodeInfo?.kubeletVersion,
      unschedulable: node.spec?.unschedulable ?? false,
      annotations: node.metadata?.annotations,
    }));
    const { data } = (await kubernetes.get<{ data: object } & typeof CONFIGURATION>(CONFIGURATION))!;
    return { cluster: await describeCluster(this.ground), data, nodes };
  }

  /** Stops the agent of a Node as soon as it is asked for something, lets it hang, or breaks its unit so that nothing can start it. */
  stopsWhenAsked(node: string, unit: AgentUnit): void {
    this.stopping = { node, unit };
  }

  private agentRuns(node: string): boolean {
    const state = this.ground.fleet.state(node);
    if (this.stopping?.node === node) {
      state.agentUnit = this.stopping.unit;
      this.ground.fleet.files.saveState(node, state);
      [this.stopping, this.stopped] = [undefined, node];
    }
    return state.agentUnit === undefined;
  }

  private async putPods(): Promise<void> {
    const { kubernetes } = this.ground;
    const present = await kubernetes.listPods();
    for (const node of this.machines) {
      if (present.some(({ metadata }) => metadata?.name === podOn(node))) continue;
      const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "u", controller: true };
      await kubernetes.create({
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: podOn(node), namespace: "default", ownerReferences: [owner] },
        spec: { nodeName: node, containers: [{ name: "web", image: "web" }] },
      });
    }
  }
}

function clusterAt(version: string): object {
  return { data: { ClusterConfiguration: `kubernetesVersion: v${version}\n` } };
}

/** Registers the mocha hooks; the rollout can be used from the first test on. */
export function versionRollout(machines: readonly string[]): VersionRollout {
  const made = {} as SimulatedFixture;
  const rollout = new VersionRollout(made, machines);
  before(async function () {
    this.timeout(SET_UP_MILLISECONDS);
    Object.assign(made, await openFixture({ machines: [...machines], version: `v${OLD}` }));
    await rollout.open();
  });
  after(async () => {
    // its gate precedes the API server, which would refuse whatever comes after it
    await rollout.close();
    await closeFixture(made);
  });
  return rollout;
}
