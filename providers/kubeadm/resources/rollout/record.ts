import { recordHistory, recordNodeEvent, type NodeEvent } from "../../../../lib/kubernetes";
import type { ClusterSession } from "../cluster-session";
import { report } from "../../../../lib/pulumi/log";

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
