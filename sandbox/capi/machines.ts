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
    const ref = { apiVersion: "v1", kind: "Node", name: instance.name };
    const node = { apiVersion: "v1", kind: "Node", metadata: { name: instance.name }, spec: { providerID } };
    await this.workload.create(node).catch((error: unknown) => {
      if (!(error instanceof KubernetesError) || error.status !== 409) throw error;
    });
    const ready =
      fault === "not-ready"
        ? { status: "False", reason: "KubeletNotReady", message: "the network is not ready" }
        : { status: "True", reason: "KubeletReady", message: "it is ready" };
    await this.workload.mergePatch(
      ref,
      {
        status: {
          nodeInfo: { kubeletVersion: instance.version },
          conditions: [{ type: "Ready", ...ready, lastTransitionTime: new Date().toISOString() }],
        },
      },
      { subresource: "status" },
    );
  }

  async delete(name: string): Promise<void> {
    await this.workload.delete({ apiVersion: "v1", kind: "Node", name });
  }

  async isReady({ name }: Instance): Promise<boolean> {
    return isNodeReady(await this.workload.getNode(name));
  }
}

/** Returns whether a Node exists and is Ready. */
export function isNodeReady(node: Node | undefined): boolean {
  return (node?.status?.conditions ?? []).some(({ type, status }) => type === "Ready" && status === "True");
}
