import { acquireLease, KubernetesClient, type LeaseHandle } from "../../../lib/kubernetes";
import { assertEngineAlive, engineSignal } from "../../../lib/process/parent-watch";
import { MachinesSession } from "./machines-session";
import { report } from "../../../lib/pulumi/log";
import { userAgent } from "../../../lib/pulumi/user-agent";
import type { ClusterInputs } from "./inputs";

/** How long a handler waits at most for whoever changes the cluster now, before it is refused by name. */
const LEASE_SECONDS = 60;

/** One handler's work on a running cluster: its machines, its API, and the Lease that makes it the only writer. */
export class ClusterSession extends MachinesSession {
  /** Aborted when the Lease is lost or the engine has died: whoever waits stops, and nothing new is begun. */
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
   * Finds a living API server, takes the cluster's Lease and waits for whoever holds it.
   *
   * @throws KubernetesUnreachable when no control plane answers, LeaseHeld when somebody else keeps the Lease
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

  /** Waits until the Lease is certainly ours. @throws EngineGone, LeaseLost: this handler may begin no other step */
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
