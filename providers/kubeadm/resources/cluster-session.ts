import { acquireLease, KubernetesClient, type LeaseHandle } from "../../../lib/kubernetes";
import { assertEngineAlive, engineSignal } from "../../../lib/process/parent-watch";
import { MachinesSession } from "./machines-session";
import { report } from "../../../lib/pulumi/log";
import { userAgent } from "../../../lib/version";
import type { ClusterInputs } from "./inputs";

/** How long a handler waits for the current holder of the cluster's Lease before it fails with the holder's name. */
const LEASE_SECONDS = 60;

/**
 * The connections of one handler to a running cluster: its machines, its API, and the Lease that makes it the only
 * writer.
 */
export class ClusterSession extends MachinesSession {
  /** Aborted when the Lease is lost or the engine has died: waits stop, and no step begins. */
  readonly signal: AbortSignal;
  private readonly engine = engineSignal();

  private constructor(
    resource: string,
    inputs: Pick<ClusterInputs, "credentials" | "jumpHost" | "timeouts" | "stack">,
    readonly kubernetes: KubernetesClient,
    /** "project/stack" */
    readonly stack: string,
    private readonly lease: LeaseHandle,
  ) {
    super(resource, inputs);
    this.signal = AbortSignal.any([lease.signal, this.engine.signal]);
  }

  /**
   * Finds a ready API server and acquires the cluster's Lease, waiting for its current holder.
   *
   * @throws KubernetesUnreachable when no control plane answers, LeaseHeld when the holder keeps the Lease
   */
  static async open(
    resource: string,
    inputs: Pick<ClusterInputs, "credentials" | "jumpHost" | "timeouts" | "stack"> & { kubeconfig: string },
  ): Promise<ClusterSession> {
    const progress = (line: string) => report(resource, line);
    const kubernetes = await KubernetesClient.connect(
      { kubeconfig: inputs.kubeconfig },
      {
        seconds: inputs.timeouts.ready,
        userAgent: userAgent(inputs),
        progress,
      },
    );
    assertEngineAlive();
    const stack = inputs.stack ?? "unknown";
    const lease = await acquireLease(
      kubernetes,
      { stack },
      {
        seconds: Math.min(LEASE_SECONDS, inputs.timeouts.ready),
        waitForLiving: true,
        progress,
      },
    );
    return new ClusterSession(resource, inputs, kubernetes, stack, lease);
  }

  /** Waits until the Lease is confirmed. @throws EngineGone, LeaseLost: this handler may begin no other step */
  async assertMayGoOn(): Promise<void> {
    await this.lease.confirmed();
    assertEngineAlive();
    this.signal.throwIfAborted();
  }

  async end(): Promise<void> {
    this.engine.stop();
    this.close();
    await this.lease.release().finally(() => this.kubernetes.close());
  }
}
