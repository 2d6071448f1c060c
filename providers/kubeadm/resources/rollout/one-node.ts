import { annotationKeys, annotationValue, WAS_CORDONED } from "../../plan/rollout/annotations";
import {
  type Asked,
  hasGivenUp,
  observeRolloutNode,
  pendingOf,
  type RolloutNode,
} from "../../plan/rollout/observed";
import type { RolloutStep } from "../../plan/rollout/plan";
import { staysCordoned } from "../../plan/rollout/desired";
import { desiredSoftware, type DesiredRollout } from "../../plan/rollout/desired";
import { nodeReference } from "../cluster-session";
import { untilEtcdSpares } from "../etcd-membership";
import type { RolloutRecord, RolloutSession } from "./record";

/** A node refused what was requested, and would refuse it again. */
class NodeRefused extends Error {
  readonly next: string;

  constructor(message: string, { drains }: Pick<RolloutStep, "drains">) {
    super(message);
    const until = drains ? "the node stays cordoned until then, and " : "";
    this.next = `fix the value, or take it back, and run the command again: ${until}no other node gets the change`;
  }
}

/**
 * The loop of seed 004 on one node: opens its change window, cordons and drains it, requests the versions in one write,
 * waits until the agent has installed them and the node is Ready with them, uncordons it and closes the window. All
 * state is in the Node's annotations, so a later run continues after a killed one.
 */
export class NodeUpgrade {
  private readonly keys;
  private readonly wanted: Record<string, string>;

  constructor(
    private readonly session: RolloutSession,
    private readonly record: RolloutRecord,
    readonly step: RolloutStep,
    private readonly node: RolloutNode,
    desired: DesiredRollout,
  ) {
    this.keys = annotationKeys(session.inputs.rollout.annotations);
    this.wanted = desiredSoftware(desired, step.to, step);
  }

  /** Opens the change window, and records in the same write if the node was cordoned before. */
  async open(): Promise<void> {
    const { node, keys, step } = this;
    if (step.resumed) return;
    // an agent with an earlier request must not begin before the node is drained
    const { current } = node;
    const idle = Object.keys(node.desired).filter(
      (name) => current[name] !== undefined && node.desired[name] !== current[name],
    );
    await this.annotate({
      [keys.changesAllowed]: "true",
      ...(node.unschedulable ? { [WAS_CORDONED]: "true" } : {}),
      ...this.requests(Object.fromEntries(idle.map((name) => [name, current[name] ?? ""]))),
    });
    this.event("RolloutStarted", `change window opened: ${step.from} → ${step.to}`);
  }

  /** Does everything after the opening. @throws the reason why the node is not done */
  async finish(): Promise<void> {
    const { session, step, node, wanted } = this;
    const isRecalled = step.recalled !== undefined;
    const closesOnly = step.resumed && step.software.length === 0 && !isRecalled;
    const isAsked =
      step.resumed && !isRecalled && Object.keys(wanted).every((name) => node.desired[name] === wanted[name]);
    if (!closesOnly && !isAsked) {
      if (step.controlPlane) await untilEtcdSpares(session, node.name);
      await session.assertMayGoOn();
      // a person uncordoned it since: what comes now is this rollout's own cordon
      if (node.cordonedBefore && !staysCordoned(node)) await this.annotate({ [WAS_CORDONED]: null });
      if (step.drains) {
        await session.drain(node.name, session.inputs.drain);
        this.event("RolloutDrained", "cordoned and drained");
      }
      await this.annotate({ ...this.withdrawals(), ...this.requests(wanted), ...this.anotherTry() });
    } else if (node.finalFailure) await this.annotate(this.anotherTry());
    await this.untilDone({ version: step.to, software: closesOnly ? undefined : wanted });
    await this.close();
  }

  private async untilDone(asked: Asked): Promise<void> {
    const { session, node, step } = this;
    const { drift, rollout } = session.inputs;
    const { nodeTimeoutSeconds, annotations } = rollout;
    const what = `${node.name} to run ${step.to} and be Ready`;
    await session.untilNode(node.name, what, nodeTimeoutSeconds, (object) => {
      if (!object) return { pending: "its Node is not in the cluster" };
      const observed = observeRolloutNode(object, annotations, drift === "repair");
      const pending = pendingOf(observed, asked);
      if (pending !== undefined && hasGivenUp(observed, asked))
        throw new NodeRefused(`${node.name}: ${observed.message ?? pending}`, step);
      return pending === undefined ? { done: undefined } : { pending };
    });
    this.event("RolloutUpgraded", `runs ${step.to} and is Ready`);
  }

  /** Closes the window in one write, so that a kill never leaves the node uncordoned with its window open. */
  private async close(): Promise<void> {
    const { node, keys } = this;
    const isLeftCordoned = staysCordoned(node);
    await this.annotate(
      { [keys.changesAllowed]: "false", [WAS_CORDONED]: null },
      isLeftCordoned ? {} : { spec: { unschedulable: null } },
    );
    const words = isLeftCordoned ? "left cordoned, as it was before" : "uncordoned";
    this.event("RolloutFinished", `${words}, change window closed`);
  }

  /** Returns the annotations that request these versions. */
  private requests(versions: Record<string, string>): Record<string, string> {
    const each = Object.entries(versions);
    return Object.fromEntries(
      each.map(([name, version]) => [this.keys.desired(name), annotationValue(name, version)]),
    );
  }

  /** Returns the annotations that take back what an earlier run requested of software that is no longer configured. */
  private withdrawals(): Record<string, string | null> {
    const { recalled = [] } = this.step;
    return Object.fromEntries(
      recalled.map(({ name, to }) => [
        this.keys.desired(name),
        to === undefined ? null : annotationValue(name, to),
      ]),
    );
  }

  /** Returns the annotation that makes an agent try again what failed for good in an earlier run. */
  private anotherTry(): Record<string, null> {
    return this.node.finalFailure ? { [this.keys.finalFailure]: null } : {};
  }

  private async annotate(annotations: Record<string, string | null>, others: object = {}): Promise<void> {
    const { session, node } = this;
    await session.assertMayGoOn();
    await session.kubernetes.mergePatch(nodeReference(node.name), { metadata: { annotations }, ...others });
  }

  private event(reason: string, message: string): void {
    this.record.event({ node: this.node.name, reason, message });
  }
}
