import { cpSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { waitFor } from "../../lib/wait";
import type { KubernetesObject } from "../../lib/kubernetes";
import { CLUSTER_HISTORY } from "../../lib/kubernetes/own-objects";
import { isReady } from "../../lib/kubernetes/api-server-health";
import { CLUSTER_OWNER, ownerIn, ownerObject } from "../../providers/kubeadm/plan/facts/owner-record";
import type { Owner } from "../../lib/ownership/owner";
import type { MachineState } from "../simulation/fleet-files";
import type { SimulatedFixture } from "./simulated-fixture";
import { observedCluster } from "./observed-cluster";

interface StoredNode {
  metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  spec: object;
  status: object;
}

/**
 * A cluster as it was at one moment: the engine's state, every machine, the owner, the history, and the Nodes. Much faster
 * than another `up`.
 */
export class ClusterSnapshot {
  private constructor(
    private readonly ground: SimulatedFixture,
    private readonly folder: string,
    private readonly machines: Map<string, MachineState>,
    private readonly nodes: StoredNode[],
    private readonly owner: Owner | undefined,
    private readonly history: (KubernetesObject & { data?: object }) | undefined,
  ) {}

  static async take(fixture: SimulatedFixture): Promise<ClusterSnapshot> {
    const kept = readdirSync(fixture.folder).filter((name) => name.startsWith("snapshot-")).length;
    const folder = path.join(fixture.folder, `snapshot-${kept}`);
    cpSync(fixture.stack.stateFolder, folder, { recursive: true });
    const machines = new Map(namesOf(fixture).map((name) => [name, fixture.fleet.state(name)]));
    const nodes = (await fixture.kubernetes.listNodes()) as unknown as StoredNode[];
    const owner = ownerIn(await fixture.kubernetes.get(CLUSTER_OWNER));
    const history = await fixture.kubernetes.get<KubernetesObject & { data?: object }>(CLUSTER_HISTORY);
    return new ClusterSnapshot(fixture, folder, machines, nodes, owner, history);
  }

  /** Restores everything. No process of an earlier run may still be active. */
  async restore(): Promise<void> {
    const { fleet, kubernetes, stack } = this.ground;
    rmSync(stack.stateFolder, { recursive: true });
    cpSync(this.folder, stack.stateFolder, { recursive: true });
    await kubernetes.delete(CLUSTER_OWNER);
    if (this.owner) await kubernetes.create(ownerObject(this.owner));
    await kubernetes.delete(CLUSTER_HISTORY);
    const { apiVersion, kind, ...metadata } = CLUSTER_HISTORY;
    const { data } = this.history ?? {};
    if (data) await kubernetes.create({ apiVersion, kind, metadata, data });
    for (const node of await kubernetes.listNodes())
      await kubernetes.delete({ apiVersion: "v1", kind: "Node", name: node.metadata?.name ?? "" });
    for (const { metadata, spec, status } of this.nodes) {
      const { name, labels, annotations } = metadata;
      await kubernetes.create({
        apiVersion: "v1",
        kind: "Node",
        metadata: { name, labels, annotations },
        spec,
        status,
      });
    }
    for (const [name, state] of this.machines) {
      fleet.files.saveState(name, state);
      // the machine reads its own state again
      fleet.powerOff(name);
      fleet.powerOn(name);
    }
    await waitFor({
      what: "the API servers of the control planes, and of no other machine",
      seconds: 10,
      firstPauseMilliseconds: 20,
      longestPauseMilliseconds: 100,
      probe: async () => {
        const wrong: string[] = [];
        for (const [name, state] of this.machines) {
          if ((await isReady(fleet.machine(name).apiServer)) !== state.apiServerRuns) wrong.push(name);
        }
        return wrong.length === 0 ? { done: true } : { pending: wrong.join(", ") };
      },
    });
  }
}

function namesOf({ fleet }: SimulatedFixture): string[] {
  return fleet.files.configuration.machines.map(({ name }) => name);
}

/** What two clusters must have in common to be the same: Nodes, machines, and resources on record. */
export async function describeCluster(fixture: SimulatedFixture): Promise<unknown> {
  const { resources = [] } = (await fixture.stack.export()).deployment;
  const identity = (
    resources.find(({ type }) => type.endsWith(":StackIdentity")) as { id?: string } | undefined
  )?.id;
  const machines = namesOf(fixture).map((name) => {
    const { etcdId, marker, ...state } = fixture.fleet.state(name);
    const owned = marker?.replace(`id=${identity}`, "id=of the stack");
    return [name, { ...state, marker: owned, isInEtcd: etcdId !== undefined }];
  });
  return {
    nodes: await observedCluster(fixture.kubernetes),
    machines: Object.fromEntries(machines) as unknown,
    resources: resources.map(({ urn }) => urn).sort(),
  };
}
