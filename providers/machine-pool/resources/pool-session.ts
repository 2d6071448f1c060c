import type { FetchedKubeconfig, KubernetesClient, ObjectRef } from "../../../lib/kubernetes";
import {
  asksForNodes,
  evaluate,
  type Evaluation,
  observeNode,
  type ObservedNode,
  terminalFailureReason,
} from "../plan/evaluation";
import { type ObservedPool, observePool, type Referred, terminalFailure } from "../plan/observed";
import { type ClusterWork, connectTo } from "../../kubernetes/resources/inputs";
import type { PoolInputs, PoolNode } from "./machine-pool-ready";

const LOOK_SECONDS = 10;

/** Returns a pool's name for messages. */
export function nameOf({ namespace, name }: Pick<PoolInputs, "namespace" | "name">): string {
  return `MachinePool ${namespace}/${name}`;
}

/** The pool can't reach its desired state by waiting. */
export class PoolFailed extends Error {
  override readonly name = "PoolFailed";

  constructor(pool: PoolInputs, why: string) {
    super(`${nameOf(pool)}: ${why}`);
  }
}

/** A pool that should exist was deleted. */
export class PoolMissing extends Error {
  override readonly name = "PoolMissing";

  constructor(pool: PoolInputs) {
    super(`there is no ${nameOf(pool)}: it was deleted outside of foresail`);
  }
}

/** A pool's current state, with its nodes. */
export interface Look {
  pool: ObservedPool;
  nodes: ObservedNode[];
  conclusion: Evaluation;
}

type Management = Pick<ClusterWork, "kubernetes"> & Partial<ClusterWork>;

/** A handler's connections for a pool: the management cluster, and the workload cluster once it is needed. */
export class PoolSession {
  readonly management: KubernetesClient;
  private workloadClient: KubernetesClient | undefined;
  private warming: Promise<void> | undefined;
  private isClosed = false;

  private constructor(
    private readonly inputs: PoolInputs,
    private readonly work: Management,
  ) {
    this.management = work.kubernetes;
  }

  /** Runs work with the management cluster's connection, and closes those of the workload cluster. */
  static async run<T>(
    inputs: PoolInputs,
    work: Management,
    use: (session: PoolSession) => Promise<T>,
  ): Promise<T> {
    const session = new PoolSession(inputs, work);
    try {
      return await use(session);
    } finally {
      session.isClosed = true;
      session.workloadClient?.close();
    }
  }

  /** The reference to the pool. */
  get ref() {
    const { apiVersion, namespace, name } = this.inputs;
    return { apiVersion, kind: "MachinePool", namespace, name };
  }

  /** Returns whether the Cluster is paused, and with it all its objects. */
  async isClusterPaused(): Promise<boolean> {
    const ref = { ...this.ref, kind: "Cluster", name: this.inputs.cluster };
    const found = await this.management.get<{ spec?: { paused?: boolean } }>(ref);
    return found?.spec?.paused === true;
  }

  /**
   * Returns a client for the workload cluster, with the kubeconfig of the stack or of Cluster API.
   *
   * @throws Error when there is neither; KubeconfigRefused; KubernetesUnreachable
   */
  async workload(seconds = LOOK_SECONDS): Promise<KubernetesClient> {
    await this.warming;
    this.workloadClient ??= await this.openWorkload(seconds, this.work.progress);
    return this.workloadClient;
  }

  /** Connects to the workload cluster in advance, so that the final check does not wait for the connection. */
  warmUp(): void {
    if (this.workloadClient ?? this.warming) return;
    const opened = this.openWorkload(LOOK_SECONDS).then((client) => {
      this.workloadClient = client;
      if (this.isClosed) client.close();
    });
    // there may be no kubeconfig yet; the code that needs the cluster reports the error
    this.warming = opened.catch(() => undefined).finally(() => (this.warming = undefined));
  }

  private async openWorkload(seconds: number, progress?: (line: string) => void): Promise<KubernetesClient> {
    const { workloadKubeconfig, stack } = this.inputs;
    const kubeconfig = workloadKubeconfig ?? (await this.clusterKubeconfig());
    const options = { readsOnly: true, authorizedPath: "/api/v1/nodes", seconds, progress };
    return connectTo({ kubeconfig, stack }, { ...options, signal: this.work.signal });
  }

  /** Reads the whole state once. @returns undefined when the pool does not exist */
  async look(): Promise<Look | undefined> {
    const object = await this.management.get<object>(this.ref);
    if (object === undefined) return undefined;
    const pool = observePool(object);
    const isClusterPaused = await this.isClusterPaused();
    const first = evaluate(pool, this.inputs, { isClusterPaused });
    if (!asksForNodes(first)) return { pool, nodes: [], conclusion: await this.withFailures(pool, first) };
    const found = await this.nodes();
    const { nodes = [] } = found;
    return { pool, nodes, conclusion: evaluate(pool, this.inputs, { isClusterPaused, ...found }) };
  }

  /** Adds terminal failures of referred objects, which the pool may not report itself. */
  private async withFailures(pool: ObservedPool, evaluation: Evaluation): Promise<Evaluation> {
    if (!("waits" in evaluation)) return evaluation;
    // ignores objects that can't be read because of missing rights or kinds
    const words = await this.failureBeside(pool).catch(() => undefined);
    return words === undefined ? evaluation : terminalFailureReason(words);
  }

  /** Returns the terminal failure of an object that the pool refers to, with its name; undefined without one. */
  private async failureBeside({
    bootstrapConfig,
    infrastructure,
  }: ObservedPool): Promise<string | undefined> {
    for (const referred of [bootstrapConfig, infrastructure]) {
      const ref = await this.whereIs(referred);
      const words = ref && failureOf(ref, await this.management.get<object>(ref));
      if (words !== undefined) return words;
    }
    return undefined;
  }

  /** @returns the nodes, or why they could not be read. @throws KubeconfigRefused */
  private async nodes(): Promise<{ nodes?: ObservedNode[]; nodesSilent?: string }> {
    const { KubeconfigRefused } = await import("../../../lib/kubernetes/index.js");
    try {
      return { nodes: (await (await this.workload()).listNodes()).map(observeNode) };
    } catch (error) {
      if (error instanceof KubeconfigRefused) throw error;
      return { nodesSilent: (error as Error).message };
    }
  }

  private async clusterKubeconfig(): Promise<FetchedKubeconfig> {
    const { FetchedKubeconfig } = await import("../../../lib/kubernetes/index.js");
    const { namespace, cluster } = this.inputs;
    const ref = { apiVersion: "v1", kind: "Secret", namespace, name: `${cluster}-kubeconfig` };
    const fetched = FetchedKubeconfig.inSecret(ref, await this.management.get(ref));
    if (fetched === undefined)
      throw new Error(
        `Secret ${namespace}/${ref.name} has no kubeconfig of the workload cluster; set foresail:workloadKubeconfig`,
      );
    return fetched;
  }

  /**
   * Returns the reference to an object that the pool refers to. v1beta2 contains only the group, so the server provides
   * the version.
   *
   * @returns undefined when the pool has none, or the server does not have its kind
   */
  async whereIs(referred: Referred | undefined): Promise<ObjectRef | undefined> {
    if (referred === undefined) return undefined;
    const { group, kind, name } = referred;
    const apiVersion = referred.apiVersion ?? (await this.management.versionsOf(group, kind))[0];
    return apiVersion === undefined
      ? undefined
      : { apiVersion, kind, namespace: this.inputs.namespace, name };
  }

  /**
   * Watches the objects that a pool refers to until one has a terminal failure. Cluster API 1.7 copies the failure to
   * the pool; the controller of 1.11.1 fails on it and reports nothing.
   *
   * @returns the object and its failure; undefined when it can't be watched, or at the deadline
   */
  async untilTerminalFailure(options: { seconds: number; signal: AbortSignal }): Promise<string | undefined> {
    const watch = async (referred: Referred | undefined) => {
      const ref = await this.whereIs(referred);
      if (ref === undefined) throw new Error("there is nothing to watch");
      return this.management.watchUntil<string, object>({
        ...ref,
        ...options,
        what: `${ref.kind} ${ref.name} to fail`,
        decide: ([object]) => {
          const words = failureOf(ref, object);
          return words === undefined ? { pending: "it has not" } : { done: words };
        },
      });
    };
    try {
      const pool = observePool((await this.management.get<object>(this.ref)) ?? {});
      return await Promise.any([watch(pool.bootstrapConfig), watch(pool.infrastructure)]);
    } catch {
      // without a right to watch them, the pool's own status must suffice
      return undefined;
    }
  }
}

/** Returns the terminal failure of an object with its name. */
export function failureOf({ kind, name }: ObjectRef, object: object | undefined): string | undefined {
  const words = object && terminalFailure(object);
  return words === undefined ? undefined : `${kind} ${name}: ${words}`;
}

/** Returns the nodes of a pool for the outputs. */
export function poolNodes(pool: ObservedPool, nodes: readonly ObservedNode[]): PoolNode[] {
  return nodes
    .filter(({ providerID }) => providerID !== undefined && pool.providerIDs.includes(providerID))
    .map(({ name, providerID = "", version = "" }) => ({ name, providerID, version }))
    .sort((one, other) => one.name.localeCompare(other.name, "en", { numeric: true }));
}
