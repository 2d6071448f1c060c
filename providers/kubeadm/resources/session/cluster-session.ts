import {
  acquireLease,
  awaitDetached,
  drainNode,
  KubernetesClient,
  type LeaseHandle,
  type Node,
  type WatchArgs,
} from "../../../../lib/kubernetes";
import { anySignal } from "../../../../lib/abort";
import { assertEngineAlive, engineSignal } from "../../../../lib/process/parent-watch";
import { MachinesSession } from "./machines-session";
import { assertOwnCluster } from "../facts/ownership";
import { report } from "../../../../lib/pulumi/log";
import { userAgent } from "../../../../lib/version";
import { DEFAULT_DRAIN } from "../../plan/cluster/defaults";
import type { ClusterInputs, DrainSettings } from "../declarations";

/** How long a handler waits for the current holder of the cluster's Lease before it fails with the holder's name. */
const LEASE_SECONDS = 60;

/** Inputs of a resource that changes a running cluster. */
type RunningInputs = ClusterInputs & { kubeconfig: string };

/** Returns the reference of a machine's Node. */
export function nodeReference(name: string) {
  return { apiVersion: "v1", kind: "Node", name };
}

/** Connects to a ready API server. @throws KubernetesUnreachable when no control plane answers in time */
export function connect(
  resource: string,
  inputs: Pick<RunningInputs, "kubeconfig" | "timeouts" | "stack">,
): Promise<KubernetesClient> {
  const { kubeconfig, timeouts } = inputs;
  const progress = (line: string) => report(resource, line);
  const options = { seconds: timeouts.ready, userAgent: userAgent(inputs), progress };
  return KubernetesClient.connect({ kubeconfig }, options);
}

/**
 * The connections of one handler to a running cluster: its machines, its API, and the Lease that makes it the only
 * writer.
 */
export class ClusterSession<Inputs extends RunningInputs = RunningInputs> extends MachinesSession<Inputs> {
  private readonly engine = engineSignal();
  /**
   * Options of a wait. The signal is aborted when the Lease is lost or the engine has died: waits stop, and no step
   * begins.
   */
  readonly waiting: { signal: AbortSignal; progress: (line: string) => void };

  private constructor(
    resource: string,
    inputs: Inputs,
    readonly kubernetes: KubernetesClient,
    private readonly lease: LeaseHandle,
  ) {
    super(resource, inputs);
    const signal = AbortSignal.any([lease.signal, this.engine.signal]);
    this.waiting = { signal, progress: this.progress };
  }

  /**
   * Finds a ready API server and acquires the cluster's Lease, waiting for its current holder.
   *
   * @throws KubernetesUnreachable when no control plane answers, ForeignCluster when the cluster belongs to another stack,
   *   LeaseHeld when the holder keeps the Lease
   */
  static async open<Inputs extends RunningInputs>(resource: string, inputs: Inputs) {
    const kubernetes = await connect(resource, inputs);
    assertEngineAlive();
    const { stack = "unknown", timeouts } = inputs;
    const progress = (line: string) => report(resource, line);
    const seconds = Math.min(LEASE_SECONDS, timeouts.ready);
    await assertOwnCluster(kubernetes, inputs).catch((error: unknown) => {
      kubernetes.close();
      throw error;
    });
    const lease = await acquireLease(kubernetes, { stack }, { seconds, waitForLiving: true, progress });
    return new ClusterSession(resource, inputs, kubernetes, lease);
  }

  /** Waits until the Lease is confirmed. @throws EngineGone, LeaseLost: this handler may begin no other step */
  async assertMayGoOn(): Promise<void> {
    await this.lease.confirmed();
    assertEngineAlive();
    this.waiting.signal.throwIfAborted();
  }

  /**
   * Waits until one Node is as desired.
   *
   * @param ended ends the wait
   * @throws WaitTimeout with the last condition
   */
  async untilNode(
    name: string,
    what: string,
    seconds: number,
    decide: (node: Node | undefined) => ReturnType<WatchArgs<void, Node>["decide"]>,
    ended?: AbortSignal,
  ): Promise<void> {
    const signal = anySignal(this.waiting.signal, ended);
    const wait = { ...nodeReference(name), what, seconds, ...this.waiting, signal };
    await this.kubernetes.watchUntil<void, Node>({ ...wait, decide: ([node]) => decide(node) });
  }

  /** Cordons and drains a node. @throws DrainRefused, WaitTimeout */
  async drain(
    name: string,
    { timeoutSeconds: seconds, deleteEmptyDirData, force }: DrainSettings,
  ): Promise<void> {
    this.progress(`${name}: draining`);
    const mayGoOn = () => this.assertMayGoOn();
    await drainNode(this.kubernetes, name, { deleteEmptyDirData, force, seconds, ...this.waiting, mayGoOn });
  }

  /** Waits until the volumes of a drained node are detached. What is attached at the limit is only reported. */
  async untilDetached(name: string, { volumeDetachSeconds }: DrainSettings): Promise<void> {
    const seconds = volumeDetachSeconds ?? DEFAULT_DRAIN.volumeDetachSeconds;
    if (seconds === 0) return;
    const left = await awaitDetached(this.kubernetes, name, { seconds, ...this.waiting });
    if (left.length > 0) this.progress(`${name}: still attached after ${seconds} s: ${left.join(", ")}`);
  }

  /** Gives the Lease back and closes all connections. */
  async end(): Promise<void> {
    this.engine.stop();
    this.close();
    await this.lease
      .release()
      .finally(() => this.kubernetes.close())
      .catch((error: unknown) => this.progress(`could not give the Lease back: ${String(error)}`));
  }
}
