import { recordHistory, recordNodeEvent, type NodeEvent, pauseRequested } from "../../../../lib/kubernetes";
import type { ClusterSession } from "../cluster-session";
import { report } from "../../../../lib/pulumi/log";
import { passGate, soak } from "../../gate";
import { endsInTime, stopTime } from "../../plan/rollout/stop-after";
import type { NodeRolloutInputs } from "../inputs";

/** Records what happened, on the Node and in the history. A failure to record does not fail the rollout. */
export class RolloutRecord {
  private warned = false;

  constructor(private readonly session: ClusterSession) {}

  async event(event: NodeEvent): Promise<void> {
    await this.attempt(() => recordNodeEvent(this.session.kubernetes, event));
  }

  async history(step: string, result: string, seconds: number): Promise<void> {
    await this.attempt(() =>
      recordHistory(this.session.kubernetes, { stack: this.session.stack, step, result, seconds }),
    );
  }

  private async attempt(write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      if (this.warned) return;
      this.warned = true;
      report(this.session.resource, `the history could not be written: ${(error as Error).message}`);
    }
  }
}

/**
 * The rollout ended before its next node because a pause was requested or its time was over. Completed work is kept.
 */
export class RolloutPaused extends Error {
  override readonly name = "RolloutPaused";
  readonly code = "RolloutPaused";
  readonly next = "run the same `up` again when it may continue: the next node is next in order";
}

/** Decides whether the rollout may begin its next nodes: soak time, gate, a requested pause, and `stopAfter`. */
export class BeginPermission {
  private readonly begun = new Date();
  private lastEnd?: number;
  private longestSeconds = 0;

  constructor(
    private readonly session: ClusterSession,
    private readonly inputs: NodeRolloutInputs,
  ) {}

  /** Records that a node has completed. */
  ended(seconds: number): void {
    this.lastEnd = Date.now();
    this.longestSeconds = Math.max(this.longestSeconds, seconds);
  }

  /**
   * Waits until the next nodes may begin.
   *
   * @param next their names
   * @throws RolloutPaused when they may not; WaitTimeout when the gate stays closed
   */
  async ask(next: string): Promise<void> {
    const { session, inputs } = this;
    const { gate, soakSeconds, nodeTimeoutSeconds } = inputs.rollout;
    await this.refuseWhenPaused(next);
    const soaked = this.lastEnd === undefined ? 0 : this.lastEnd + soakSeconds * 1000 - Date.now();
    if (soaked > 0) {
      report(session.resource, `${Math.ceil(soaked / 1000)} s until ${next} may begin (soakSeconds)`);
      await soak(soaked / 1000, session.signal);
    }
    if (gate) {
      await passGate(gate, {
        seconds: nodeTimeoutSeconds,
        signal: session.signal,
        progress: (line) => report(session.resource, line),
      });
    }
    await this.refuseWhenPaused(next);
  }

  private async refuseWhenPaused(next: string): Promise<void> {
    const request = await pauseRequested(this.session.kubernetes);
    if (request !== undefined) throw new RolloutPaused(`before ${next}: a pause was asked for (${request})`);
    const { stopAfter } = this.inputs.rollout;
    if (stopAfter === undefined) return;
    if (endsInTime(stopTime(stopAfter, this.begun), new Date(), this.longestSeconds)) return;
    throw new RolloutPaused(
      `before ${next}: it would not end in time (stopAfter ${stopAfter}, longest node so far ${Math.round(this.longestSeconds)} s)`,
    );
  }
}
