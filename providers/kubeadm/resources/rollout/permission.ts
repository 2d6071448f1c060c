import { passGate, soak } from "../../gate";
import { pauseRequested } from "../../../../lib/kubernetes";
import { endsInTime, stopTime } from "../../plan/rollout/stop-after";
import type { ClusterSession } from "../cluster-session";
import { report } from "../../../../lib/pulumi/log";
import type { NodeRolloutInputs } from "../node-rollout-inputs";
import { RolloutPaused } from "./paused";

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
