import type { FetchedKubeconfig, KubernetesClient, ObjectRef } from "../../../lib/kubernetes";
import { orAborted } from "../../../lib/abort";
import { type ClusterWork, connectTo } from "../../kubernetes/resources/inputs";
import { evaluate, type Evaluation, observePoolNode, type ObservedPoolNode } from "../plan/evaluation";
import type { Beside, PoolContext } from "../plan/evaluation";
import {
  conditionsOf,
  type ObservedPool,
  observePool,
  type Referred,
  type ReferredObject,
} from "../plan/observed";
import { type OutdatedMachines, outdatedMachines, type PoolTemplate } from "../plan/roll";
import { changedPaths, liveOf, fieldAt } from "../../kubernetes/plan/fields";
import { falseConditions, reporting } from "../plan/troubles";
import { FIELD_MANAGER } from "../../kubernetes/plan/adoption";
import type { PoolInputs, PoolNode } from "./machine-pool-ready";

const LOOK_SECONDS = 10;

/** Returns a pool's name for messages. */
export function poolName({ namespace, name }: Pick<PoolInputs, "namespace" | "name">): string {
  return `MachinePool ${namespace}/${name}`;
}

/** The pool can't reach its desired state by waiting. */
export class PoolFailed extends Error {
  override readonly name = "PoolFailed";

  constructor(pool: PoolInputs, why: string) {
    super(`${poolName(pool)}: ${why}`);
  }
}

/** A pool that should exist was deleted. */
export class PoolMissing extends Error {
  override readonly name = "PoolMissing";

  constructor(pool: PoolInputs) {
    super(`there is no ${poolName(pool)}: it was deleted outside of foresail`);
  }
}

/** A pool's current state, with its nodes. */
export interface Look {
  pool: ObservedPool;
  nodes: readonly ObservedPoolNode[];
  conclusion: Evaluation;
  /** the machines that a change of the template has to replace */
  outdated: readonly OutdatedMachines[];
  /** whether an earlier run began this change, and some of the machines are replaced */
  isUnderway: boolean;
  /** what its objects report, when it waits for such machines */
  troubles: readonly string[];
}

/** An object of a machine, as far as its conditions are needed. */
interface MachineObject {
  metadata?: { name?: string };
}

/** An Event of the core API. */
interface PoolEvent {
  type?: string;
  reason?: string;
  message?: string;
}

/** How many objects of machines and events are repeated in a message. */
const MOST_TROUBLES = 2;
const TROUBLES_SECONDS = 5;

type Management = Pick<ClusterWork, "kubernetes"> & Partial<ClusterWork>;

/** A handler's connections for a pool: the management cluster, and the workload cluster once it is needed. */
export class PoolSession {
  readonly management: KubernetesClient;
  private workloadClient: KubernetesClient | undefined;

  private constructor(
    private readonly inputs: PoolInputs,
    private readonly work: Management,
  ) {
    this.management = work.kubernetes;
  }

  /** Runs work with the management cluster's connection, and closes that of the workload cluster. */
  static async run<T>(
    inputs: PoolInputs,
    work: Management,
    use: (session: PoolSession) => Promise<T>,
  ): Promise<T> {
    const session = new PoolSession(inputs, work);
    try {
      return await use(session);
    } finally {
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
    const { workloadKubeconfig, stack } = this.inputs;
    const { signal, progress } = this.work;
    const kubeconfig = workloadKubeconfig ?? (await this.clusterKubeconfig());
    const options = { readsOnly: true, authorizedPath: "/api/v1/nodes", seconds, signal, progress };
    this.workloadClient ??= await connectTo({ kubeconfig, stack }, options);
    return this.workloadClient;
  }

  /**
   * Reads the whole state once.
   *
   * @param last the inputs of the last run, when this one may change the pool's template
   * @returns undefined when the pool does not exist
   */
  async look(last?: Partial<PoolInputs>): Promise<Look | undefined> {
    const object = await this.management.get<object>(this.ref);
    if (object === undefined) return undefined;
    const pool = observePool(object);
    const { outdated, isUnderway } = await this.outdated(pool, last);
    const desired = { ...this.inputs, outdated };
    const around = { isClusterPaused: await this.isClusterPaused() };
    const seen = { pool, nodes: [], outdated, isUnderway, troubles: [] };
    const conclusion = evaluate(pool, desired, around);
    if (!("waits" in conclusion)) return { ...seen, conclusion };
    const found = conclusion.waits.isOfNodes ? await this.nodes() : await this.beside(pool);
    const context = { ...around, ...found };
    const troubles = outdated.length > 0 ? await this.troubles(pool, context) : [];
    return { ...seen, ...found, troubles, conclusion: evaluate(pool, desired, context) };
  }

  /**
   * Returns the machines that the change since the last run has to replace, and those that an earlier run has left. A
   * machine is older than the change if its Node is older than foresail's write of it. Before that write, in a preview, all
   * with a Node are, so that preview and run have the same inputs.
   */
  private async outdated(
    pool: ObservedPool,
    last?: Partial<PoolInputs>,
  ): Promise<Pick<Look, "outdated" | "isUnderway">> {
    const { template, inPlaceFields } = this.inputs;
    const { outdated = [], template: before } = last ?? this.inputs;
    const { providerIDs: machines } = pool;
    const found = (isOlder: (id: string) => boolean) =>
      outdatedMachines(outdated, before, template, { machines, isOlder, inPlaceFields });
    // without another template the ages don't count
    if (found(() => true).length === found(() => false).length)
      return { outdated: found(() => false), isUnderway: false };
    const [{ infrastructure }, { nodes }] = await Promise.all([this.beside(pool), this.nodes()]);
    if (nodes === undefined) return { outdated: found(() => true), isUnderway: false };
    const written = infrastructure && writtenAt(infrastructure, template);
    const created = new Map(nodes.map((node) => [node.providerID, Date.parse(node.created ?? "")]));
    const ageOf = (id: string) => created.get(id) ?? NaN;
    if (written === undefined) return { outdated: found((id) => !isNaN(ageOf(id))), isUnderway: false };
    return {
      outdated: found((id) => ageOf(id) < written),
      isUnderway: machines.some((id) => ageOf(id) >= written),
    };
  }

  /** Returns what the objects of a pool report: conditions of it and its machines, and warnings. Never throws. */
  async troubles(pool: ObservedPool, around: Partial<PoolContext>): Promise<string[]> {
    const { object } = around.infrastructure ?? {};
    const { infrastructureMachineKind, apiVersion } = {
      ...object?.status,
      ...(object as { apiVersion?: string } | undefined),
    };
    const { cluster, namespace, name } = this.inputs;
    const labelSelector = `cluster.x-k8s.io/cluster-name=${cluster},cluster.x-k8s.io/pool-name=${name}`;
    const soon = AbortSignal.timeout(TROUBLES_SECONDS * 1000);
    const list = <O>(what: {
      apiVersion: string;
      kind: string;
      labelSelector?: string;
      fieldSelector?: string;
    }) => orAborted(this.management.list<O>({ ...what, namespace }), soon).catch((): O[] => []);
    const machines = async (version: string | undefined, kind: string | undefined) => {
      if (version === undefined || kind === undefined) return [];
      const found = await list<MachineObject>({ apiVersion: version, kind, labelSelector });
      return found
        .flatMap((each) =>
          falseConditions({ name: `${kind} ${each.metadata?.name}`, conditions: conditionsOf(each) }).slice(
            0,
            1,
          ),
        )
        .slice(0, MOST_TROUBLES);
    };
    const uid = object?.metadata?.uid;
    const [own, made, events] = await Promise.all([
      machines(this.inputs.apiVersion, "Machine"),
      machines(apiVersion, infrastructureMachineKind),
      uid === undefined
        ? []
        : list<PoolEvent>({ apiVersion: "v1", kind: "Event", fieldSelector: `involvedObject.uid=${uid}` }),
    ]);
    const warnings = events
      .filter(({ type }) => type === "Warning")
      .slice(-MOST_TROUBLES)
      .map(({ reason, message }) => `warning ${reason}: ${message}`);
    // the provider's machines know the cause; the others repeat that something is not ready
    return [...new Set([...made, ...reporting(pool, around).flatMap(falseConditions), ...own, ...warnings])];
  }

  /** Returns the objects that a pool refers to, except those that can't be read because of missing rights. */
  private async beside(pool: ObservedPool): Promise<Pick<PoolContext, "bootstrap" | "infrastructure">> {
    const [bootstrap, infrastructure] = await Promise.all(
      [pool.bootstrapConfig, pool.infrastructure].map((referred) =>
        this.read(referred).catch(() => undefined),
      ),
    );
    return { bootstrap, infrastructure };
  }

  /**
   * Reads an object that the pool refers to. v1beta2 contains only the group, so the server provides the version.
   *
   * @returns undefined when the pool has none, or the server does not have its kind
   */
  async read(referred: Referred | undefined): Promise<(Beside & { ref: ObjectRef }) | undefined> {
    if (referred === undefined) return undefined;
    const { group, kind, name } = referred;
    const apiVersion = referred.apiVersion ?? (await this.management.paths.versionsOf(group, kind))[0];
    if (apiVersion === undefined) return undefined;
    const ref = { apiVersion, kind, namespace: this.inputs.namespace, name };
    return { ref, name: `${kind} ${name}`, object: await this.management.get<ReferredObject>(ref) };
  }

  /** @returns the nodes, or why they could not be read. @throws KubeconfigRefused */
  private async nodes(): Promise<{ nodes?: ObservedPoolNode[]; nodesSilent?: string }> {
    const { KubeconfigRefused } = await import("../../../lib/kubernetes/index.js");
    try {
      return { nodes: (await (await this.workload()).listNodes()).map(observePoolNode) };
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
}

/** Returns when foresail wrote the template to the infrastructure object; undefined when it is not there yet. */
function writtenAt({ name, object }: Beside, { infrastructure, rest }: PoolTemplate): number | undefined {
  const desired = fieldAt(rest, "infrastructure");
  const live = liveOf(desired, fieldAt(object, "spec"));
  if (name !== infrastructure || changedPaths(live, desired).length > 0) return undefined;
  const own = object?.metadata?.managedFields?.find(
    ({ manager, operation }) => manager === FIELD_MANAGER && operation === "Apply",
  );
  return own?.time === undefined ? undefined : Date.parse(own.time);
}

/** Returns the nodes of a pool for the outputs. */
export function poolNodes(pool: ObservedPool, nodes: readonly ObservedPoolNode[]): PoolNode[] {
  return nodes
    .filter(({ providerID }) => providerID !== undefined && pool.providerIDs.includes(providerID))
    .map(({ name, providerID = "", version = "" }) => ({ name, providerID, version }))
    .sort((one, other) => one.name.localeCompare(other.name, "en", { numeric: true }));
}
