import { recordHistory, recordNodeEvent, type NodeEvent, pauseRequested } from "../../../../lib/kubernetes";
import { despiteInterrupt } from "../../../../lib/process/interruption";
import { messageOf } from "../../../../lib/error-message";
import { passGate, soak } from "../../gate";
import { endsInTime, stopTime } from "../../plan/rollout/stop-after";
import type { ClusterSession } from "../session/cluster-session";
import type { NodeRolloutInputs } from "../declarations";

export type RolloutSession = ClusterSession<NodeRolloutInputs>;

/**
 * Records what happened, on the Node and in the history: beside the work, in the order of the calls. Nothing is written
 * after the Lease was lost. A failure to record does not fail the rollout.
 */
export class RolloutRecord {
  private warned = false;
  private writes = Promise.resolve();

  constructor(private readonly session: RolloutSession) {}

  event(event: NodeEvent): void {
    this.write(() => recordNodeEvent(this.session.kubernetes, event));
  }

  history(step: string, result: string, seconds: number): void {
    const { kubernetes, inputs } = this.session;
    this.write(() => recordHistory(kubernetes, { stack: inputs.stack ?? "unknown", step, result, seconds }));
  }

  /** Waits until everything is written, or could not be. */
  written(): Promise<void> {
    return this.writes;
  }

  private write(write: () => Promise<void>): void {
    const { waiting, progress } = this.session;
    this.writes = this.writes
      .then(() => (waiting.signal.aborted ? undefined : despiteInterrupt(write)))
      .catch((error: unknown) => {
        if (!this.warned) progress(`the history could not be written: ${messageOf(error)}`);
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
   * @returns whether that took time, so that the cluster may have changed meanwhile
   * @throws RolloutPaused when they may not; WaitTimeout when the gate stays closed
   */
  async ask(next: string): Promise<boolean> {
    const { progress, waiting, inputs } = this.session;
    const { gate, soakSeconds, nodeTimeoutSeconds } = inputs.rollout;
    await this.refuseWhenPaused(next);
    const soaked = this.lastEnd === undefined ? 0 : this.lastEnd + soakSeconds * 1000 - Date.now();
    if (soaked <= 0 && !gate) return false;
    if (soaked > 0) {
      progress(`${Math.ceil(soaked / 1000)} s until ${next} may begin (soakSeconds)`);
      await soak(soaked / 1000, waiting.signal);
    }
    if (gate) await passGate(gate, { seconds: nodeTimeoutSeconds, ...waiting });
    await this.refuseWhenPaused(next);
    return true;
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
