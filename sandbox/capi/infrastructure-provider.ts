/**
 * Simulates an infrastructure provider with machine pools, such as a cloud's: follows the same contract, and creates
 * machines that are Node objects or containers on this host instead of servers.
 */
import { randomUUID } from "node:crypto";
import type { KubernetesClient } from "../../lib/kubernetes";
import { isSameStatus, stamped } from "./bootstrap-provider";
import { Controller } from "./controller";
import { nextStep, revisionOf } from "./instances";
import {
  type Cluster,
  CLUSTER_API_KINDS,
  type Condition,
  FAULT,
  type Fault,
  type Instance,
  isPaused,
  type MachinePool,
  ownerOfKind,
  type ProviderKind,
  type SandboxMachinePool,
} from "./kinds";
import type { MachineOrder, PoolMachines } from "./machines";

const FINALIZER = "sandboxmachinepool.infrastructure.cluster.x-k8s.io";
const LOOK_AGAIN_MILLISECONDS = 300;
/** How long a silent provider takes to begin a roll. */
const SILENT_MILLISECONDS = 3000;

type Status = NonNullable<SandboxMachinePool["status"]>;

/** The infrastructure provider's controller on a management cluster, for one kind of pools. */
export function infrastructureProvider(
  kubernetes: KubernetesClient,
  own: ProviderKind,
  machines: PoolMachines,
  say: (line: string) => void,
): Controller {
  /** revision → when it was first seen */
  const revisions = new Map<string, number>();
  return new Controller(
    kubernetes,
    [own, ...CLUSTER_API_KINDS],
    async (objects) => {
      const owners = (objects.get("MachinePool") ?? []) as MachinePool[];
      const clusters = (objects.get("Cluster") ?? []) as Cluster[];
      const again: (number | undefined)[] = [];
      for (const pool of (objects.get(own.kind) ?? []) as SandboxMachinePool[])
        again.push(
          await new PoolWork(kubernetes, own, machines, pool, revisions).reconcile(owners, clusters),
        );
      return again.find((milliseconds) => milliseconds !== undefined);
    },
    say,
  );
}

/** The reconciliation of one pool. */
class PoolWork {
  constructor(
    private readonly kubernetes: KubernetesClient,
    private readonly own: ProviderKind,
    private readonly machines: PoolMachines,
    private readonly pool: SandboxMachinePool,
    private readonly revisions: Map<string, number>,
  ) {}

  /** @returns after how many milliseconds to run again, if no change triggers it */
  async reconcile(owners: readonly MachinePool[], clusters: readonly Cluster[]): Promise<number | undefined> {
    const { metadata, status = {} } = this.pool;
    const owner = ownerOfKind(metadata, "MachinePool");
    const machinePool = owners.find((one) => one.metadata.uid === owner?.uid);
    const cluster = clusters.find(
      (one) =>
        one.metadata.name === machinePool?.spec.clusterName && one.metadata.namespace === metadata.namespace,
    );
    if (metadata.deletionTimestamp !== undefined) return this.finish(machinePool);
    if (owner === undefined || machinePool === undefined || cluster === undefined) return undefined;
    if (isPaused(metadata, cluster)) return undefined;
    if (this.fault === "failed") {
      const failed = { failureReason: "CreateError", failureMessage: "the cloud has no such flavor" };
      return this.writeStatus({ ...status, ...failed });
    }
    if (!(metadata.finalizers ?? []).includes(FINALIZER))
      await this.patch({ metadata: { finalizers: [...(metadata.finalizers ?? []), FINALIZER] } });
    const secret = machinePool.spec.template.spec.bootstrap.dataSecretName;
    if (cluster.status?.infrastructureReady !== true || secret === undefined) {
      const waiting = notReady("WaitingForBootstrapData", "there is no bootstrap data yet");
      return this.writeStatus({ ...status, ready: false, replicas: 0, conditions: [waiting] });
    }
    return this.converge(machinePool, secret);
  }

  private async converge(machinePool: MachinePool, secret: string): Promise<number | undefined> {
    const { instances = [], made = 0 } = this.pool.status ?? {};
    const { replicas = 1, clusterName, template } = machinePool.spec;
    const revision = revisionOf(machinePool, this.pool);
    const current = instances.filter((instance) => instance.revision === revision);
    const isRolling = current.length < instances.length;
    if (isRolling && this.fault === "bad-template") return this.refuseTemplate();
    if (isRolling && this.fault === "silent" && this.ageOf(revision) < SILENT_MILLISECONDS)
      return LOOK_AGAIN_MILLISECONDS;
    const order = { cluster: clusterName, namespace: this.pool.metadata.namespace };
    const ready = await Promise.all(current.map((instance) => this.machines.isReady(instance, order)));
    const wanted = {
      replicas,
      revision,
      pool: this.pool.metadata.name,
      ...(template.spec.version && { version: template.spec.version }),
    };
    const step = nextStep(instances, wanted, made, ready.every(Boolean));
    if (step.do === "create") {
      if (made === 0) await this.machines.prepare();
      // the list is written first, so that a machine whose creation was interrupted is found again
      await this.writeInstances([...instances, ...step.instances], made + step.instances.length, "Scaling");
      const data = await this.joinData(secret);
      const last = step.instances.at(-1);
      await Promise.all(
        step.instances.map((instance) =>
          this.machines.create(instance, this.order(instance, order, data, instance === last)),
        ),
      );
      return 0;
    }
    if (step.do === "delete") {
      await Promise.all(step.names.map((name) => this.machines.delete(name, order)));
      await this.writeInstances(
        instances.filter(({ name }) => !step.names.includes(name)),
        made,
        "Scaling",
      );
      return 0;
    }
    await this.writeInstances(instances, made, step.do === "wait" ? "Rolling" : undefined);
    return step.do === "wait" ? LOOK_AGAIN_MILLISECONDS : undefined;
  }

  /** Reports as a cloud's provider does that the cloud refuses the machines, again and again. */
  private async refuseTemplate(): Promise<number> {
    const error = { severity: "Error", reason: "LaunchTemplateCreateFailed" };
    const message = `InvalidAMIID.Malformed: no such image, status code: 400, request id: ${randomUUID()}`;
    const conditions = ["LaunchTemplateReady", "Ready"].map((type): Condition => ({
      type,
      status: "False",
      ...error,
      message,
    }));
    await this.writeStatus({ ...this.pool.status, conditions });
    return LOOK_AGAIN_MILLISECONDS;
  }

  /** How long ago a revision was first seen, in milliseconds. */
  private ageOf(revision: string): number {
    const key = `${this.pool.metadata.uid} ${revision}`;
    const first = this.revisions.get(key) ?? Date.now();
    this.revisions.set(key, first);
    return Date.now() - first;
  }

  private order(
    instance: Instance,
    where: Pick<MachineOrder, "cluster" | "namespace">,
    data: string,
    isLast: boolean,
  ): MachineOrder {
    const order = { ...where, pool: this.pool.metadata.name, providerID: this.providerID(instance), data };
    if (this.fault === "no-nodes") return { ...order, fault: "no-node" };
    return this.fault === "not-ready" && isLast ? { ...order, fault: "not-ready" } : order;
  }

  /** Deletes the machines of a deleted pool, then removes the pool's finalizer. */
  private async finish(machinePool: MachinePool | undefined): Promise<undefined> {
    const { metadata, status = {} } = this.pool;
    if (this.fault === "stuck") return undefined;
    const order = { cluster: machinePool?.spec.clusterName ?? "", namespace: metadata.namespace };
    await Promise.all((status.instances ?? []).map(({ name }) => this.machines.delete(name, order)));
    await this.patch({
      metadata: { finalizers: (metadata.finalizers ?? []).filter((name) => name !== FINALIZER) },
    });
    return undefined;
  }

  private async writeInstances(
    instances: readonly Instance[],
    made: number,
    busy: string | undefined,
  ): Promise<void> {
    const list = instances.map((instance) => this.providerID(instance));
    if (JSON.stringify(list) !== JSON.stringify(this.pool.spec?.providerIDList ?? []))
      await this.patch({ spec: { providerIDList: list } });
    const condition: Condition =
      busy === undefined || this.fault === "silent"
        ? { type: "Ready", status: "True" }
        : notReady(busy, "machines come and go");
    await this.writeStatus({
      ready: true,
      replicas: instances.length,
      instances: [...instances],
      made,
      conditions: [condition],
    });
  }

  private providerID({ name }: Instance): string {
    return `sandbox://${this.pool.metadata.namespace}/${name}`;
  }

  private get fault(): Fault | undefined {
    return this.pool.metadata.annotations?.[FAULT] as Fault | undefined;
  }

  private async joinData(secret: string): Promise<string> {
    const { namespace } = this.pool.metadata;
    const found = await this.kubernetes.get<{ data?: { value?: string } }>({
      apiVersion: "v1",
      kind: "Secret",
      namespace,
      name: secret,
    });
    return Buffer.from(found?.data?.value ?? "", "base64").toString("utf8");
  }

  private async patch(patch: object): Promise<void> {
    await this.kubernetes.mergePatch(this.ref, patch);
  }

  private async writeStatus(wanted: Status): Promise<undefined> {
    const { generation: observedGeneration } = this.pool.metadata;
    const status = { ...wanted, ...(this.fault === "silent" ? {} : { observedGeneration }) };
    if (isSameStatus(this.pool.status, status)) return undefined;
    const conditions = stamped(status.conditions);
    await this.kubernetes.mergePatch(
      this.ref,
      { status: { ...status, conditions } },
      { subresource: "status" },
    );
    return undefined;
  }

  private get ref() {
    const { namespace, name } = this.pool.metadata;
    return { apiVersion: this.own.apiVersion, kind: this.own.kind, namespace, name };
  }
}

function notReady(reason: string, message: string): Condition {
  return { type: "Ready", status: "False", severity: "Info", reason, message };
}
