import { setTimeout as pause } from "node:timers/promises";
import { KubernetesError, type KubernetesClient, type Node } from "../../lib/kubernetes";
import type { Instance } from "./kinds";

/** Creates and deletes the machines of pools. */
export interface PoolMachines {
  /** Creates what a pool needs before its first machine. */
  prepare(): Promise<void>;
  /** Creates a machine unless it exists. @returns once its creation has begun; its Node appears later */
  create(instance: Instance, order: MachineOrder): Promise<void>;
  /** Deletes a machine and its Node if they exist. */
  delete(name: string, order: Pick<MachineOrder, "cluster" | "namespace">): Promise<void>;
  /** Whether the Node of a machine is Ready with its version. */
  isReady(instance: Instance, order: Pick<MachineOrder, "cluster" | "namespace">): Promise<boolean>;
}

/** What a machine is created for. */
export interface MachineOrder {
  readonly cluster: string;
  readonly namespace: string;
  readonly pool: string;
  readonly providerID: string;
  /** the join data, from the bootstrap provider's Secret */
  readonly data: string;
  /** whether its Node never registers, or never is Ready */
  readonly fault?: "no-node" | "not-ready";
}

/** Machines that consist only of their Node objects in the workload cluster. */
export class PlainNodes implements PoolMachines {
  /** @param milliseconds until a pool is prepared, and from a machine's creation to its Node */
  constructor(
    private readonly workload: KubernetesClient,
    private readonly milliseconds = 0,
  ) {}

  async prepare(): Promise<void> {
    if (this.milliseconds > 0) await pause(this.milliseconds);
  }

  async create(instance: Instance, { providerID, fault }: MachineOrder): Promise<void> {
    if (fault === "no-node") return;
    if (this.milliseconds > 0) await pause(this.milliseconds);
    await registerNode(this.workload, {
      name: instance.name,
      version: instance.version,
      providerID,
      isReady: fault !== "not-ready",
    });
  }

  async delete(name: string): Promise<void> {
    await this.workload.delete({ apiVersion: "v1", kind: "Node", name });
  }

  async isReady({ name }: Instance): Promise<boolean> {
    return isNodeReady(await this.workload.getNode(name));
  }
}

/** A Node as its kubelet registers it. */
interface RegisteredNode {
  readonly name: string;
  /** of the kubelet: "v1.36.3" */
  readonly version: string;
  /** undefined when its provider sets it later */
  readonly providerID?: string;
  readonly isReady: boolean;
}

/** Creates a Node unless it exists, and writes its status. */
export async function registerNode(
  workload: KubernetesClient,
  { name, version, providerID, isReady }: RegisteredNode,
): Promise<void> {
  const ref = { apiVersion: "v1", kind: "Node", name };
  const node = { apiVersion: "v1", kind: "Node", metadata: { name }, spec: providerID ? { providerID } : {} };
  await workload.create(node).catch((error: unknown) => {
    if (!(error instanceof KubernetesError) || error.status !== 409) throw error;
  });
  const ready = isReady
    ? { status: "True", reason: "KubeletReady", message: "it is ready" }
    : { status: "False", reason: "KubeletNotReady", message: "the network is not ready" };
  const lastTransitionTime = new Date().toISOString();
  const pressures = ["MemoryPressure", "DiskPressure", "PIDPressure"].map((type) => ({
    type,
    status: "False",
    lastTransitionTime,
  }));
  const conditions = [...pressures, { type: "Ready", ...ready, lastTransitionTime }];
  await workload.mergePatch(
    ref,
    { status: { nodeInfo: { kubeletVersion: version }, conditions } },
    { subresource: "status" },
  );
}

/** Returns whether a Node exists and is Ready. */
export function isNodeReady(node: Node | undefined): boolean {
  return (node?.status?.conditions ?? []).some(({ type, status }) => type === "Ready" && status === "True");
}
