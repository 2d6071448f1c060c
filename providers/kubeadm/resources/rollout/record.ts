import { recordHistory, recordNodeEvent, type NodeEvent, pauseRequested } from "../../../../lib/kubernetes";
import { passGate, soak } from "../../gate";
import { endsInTime, stopTime } from "../../plan/rollout/stop-after";
import type { ClusterSession } from "../cluster-session";
import type { NodeRolloutInputs } from "../declarations";

export type RolloutSession = ClusterSession<NodeRolloutInputs>;

/** Records what happened, on the Node and in the history. A failure to record does not fail the rollout. */
export class RolloutRecord {
  private warned = false;

  constructor(private readonly session: RolloutSession) {}

  event(event: NodeEvent): Promise<void> {
    return this.attempt(recordNodeEvent(this.session.kubernetes, event));
  }

  history(step: string, result: string, seconds: number): Promise<void> {
    const { kubernetes, inputs } = this.session;
    return this.attempt(
      recordHistory(kubernetes, { stack: inputs.stack ?? "unknown", step, result, seconds }),
    );
  }

  private attempt(written: Promise<void>): Promise<void> {
    return written.catch((error: unknown) => {
      if (!this.warned)
        this.session.progress(`the history could not be written: ${(error as Error).message}`);
      this.warned = true;
    });
  }
}

/**
 * The rollout ended before its next node because a pause was requested or its time was over. Completed work is kept.
 */
export class RolloutPaused extends Error {
  readonly next = "run the same `up` again when it may continue: the next node is next in order";
}

/** Decides whether the rollout may begin its next nodes: soak time, gate, a requested pause, and `stopAfter`. */
export class BeginPermission {
  private readonly begun = new Date();
  private lastEnd?: number;
  private longestSeconds = 0;

  constructor(private readonly session: RolloutSession) {}

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
    const { progress, waiting, inputs } = this.session;
    const { gate, soakSeconds, nodeTimeoutSeconds } = inputs.rollout;
    await this.refuseWhenPaused(next);
    const soaked = this.lastEnd === undefined ? 0 : this.lastEnd + soakSeconds * 1000 - Date.now();
    if (soaked > 0) {
      progress(`${Math.ceil(soaked / 1000)} s until ${next} may begin (soakSeconds)`);
      await soak(soaked / 1000, waiting.signal);
    }
    if (gate) await passGate(gate, { seconds: nodeTimeoutSeconds, ...waiting });
    await this.refuseWhenPaused(next);
  }

  private async refuseWhenPaused(next: string): Promise<void> {
    const request = await pauseRequested(this.session.kubernetes);
    if (request !== undefined) throw new RolloutPaused(`before ${next}: a pause was asked for (${request})`);
    const { stopAfter } = this.session.inputs.rollout;
    if (stopAfter === undefined) return;
    if (endsInTime(stopTime(stopAfter, this.begun), new Date(), this.longestSeconds)) return;
    throw new RolloutPaused(
      `before ${next}: it would not end in time (stopAfter ${stopAfter}, longest node so far ${Math.round(this.longestSeconds)} s)`,
    );
  }
}
