import { drainNode } from "../../../../lib/kubernetes";
import { annotationKeys, annotationValue, WAS_CORDONED } from "../../plan/rollout/annotations";
import {
  observeRolloutNode,
  type NodeParts,
  type RolloutNode,
  pendingOf,
  type Asked,
} from "../../plan/rollout/observed";
import type { RolloutStep } from "../../plan/rollout/plan";
import { staysCordoned } from "../../plan/rollout/desired";
import { desiredSoftware, type DesiredRollout } from "../../plan/rollout/desired";
import type { ClusterSession } from "../cluster-session";
import { report } from "../../../../lib/pulumi/log";
import type { NodeRolloutInputs } from "../inputs";
import { nodeReference } from "../node-settings";
import { untilEtcdSpares } from "../etcd-membership";
import type { RolloutRecord } from "./record";

/**
 * The loop of seed 004 on one node: opens its change window, cordons and drains it, requests the versions in one write,
 * waits until the agent has installed them and the node is Ready with them, uncordons it and closes the window. All
 * state is in the Node's annotations, so a later run continues after a killed one.
 */
export class NodeUpgrade {
  private readonly keys;
  private readonly wanted: Record<string, string>;

  constructor(
    private readonly session: ClusterSession,
    private readonly inputs: NodeRolloutInputs,
    private readonly record: RolloutRecord,
    readonly step: RolloutStep,
    private readonly node: RolloutNode,
    desired: DesiredRollout,
  ) {
    this.keys = annotationKeys(inputs.rollout.annotations);
    this.wanted = desiredSoftware(desired, step.to);
  }

  /** Opens the change window, and records in the same write if the node was cordoned before. */
  async open(): Promise<void> {
    const { node, keys, step } = this;
    if (step.resumed) return;
    // an agent with an earlier request must not begin before the node is drained
    const idle = Object.keys(node.desired).filter((name) => differs(node.desired[name], node.current[name]));
    await this.annotate({
      [keys.changesAllowed]: "true",
      ...(node.unschedulable ? { [WAS_CORDONED]: "true" } : {}),
      ...Object.fromEntries(
        idle.map((name) => [keys.desired(name), annotationValue(name, node.current[name] ?? "")]),
      ),
    });
    await this.event("RolloutStarted", `change window opened: ${step.from} → ${step.to}`);
  }

  /** Does everything after the opening. @throws the reason why the node is not done */
  async finish(): Promise<void> {
    const { session, step, node, wanted } = this;
    const closesOnly = step.resumed && step.software.length === 0;
    const isAsked = step.resumed && Object.keys(wanted).every((name) => node.desired[name] === wanted[name]);
    if (!closesOnly && !isAsked) {
      if (step.controlPlane) await untilEtcdSpares(session, this.inputs, node.name);
      await this.drain();
      await session.assertMayGoOn();
      await this.annotate(
        Object.fromEntries(
          Object.entries(wanted).map(([name, version]) => [
            this.keys.desired(name),
            annotationValue(name, version),
          ]),
        ),
      );
    }
    await this.untilDone({ version: step.to, software: closesOnly ? undefined : wanted });
    await this.close();
  }

  private async drain(): Promise<void> {
    const { session, node, inputs } = this;
    await session.assertMayGoOn();
    report(session.resource, `${node.name}: draining`);
    await drainNode(session.kubernetes, node.name, {
      ...inputs.drain,
      seconds: inputs.drain.timeoutSeconds,
      signal: session.signal,
      progress: (line) => report(session.resource, line),
      mayGoOn: () => session.assertMayGoOn(),
    });
    await this.event("RolloutDrained", "cordoned and drained");
  }

  private async untilDone(asked: Asked): Promise<void> {
    const { session, node, step, inputs } = this;
    await session.kubernetes.watchUntil<void, NodeParts>({
      ...nodeReference(node.name),
      what: `${node.name} to run ${step.to} and be Ready`,
      seconds: inputs.rollout.nodeTimeoutSeconds,
      signal: session.signal,
      progress: (line) => report(session.resource, line),
      decide: ([object]) => {
        if (!object) return { pending: "its Node is not in the cluster" };
        const pending = pendingOf(observeRolloutNode(object, inputs.rollout.annotations), asked);
        return pending === undefined ? { done: undefined } : { pending };
      },
    });
    await this.event("RolloutUpgraded", `runs ${step.to} and is Ready`);
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
    await this.event("RolloutFinished", `${words}, change window closed`);
  }

  private async annotate(annotations: Record<string, string | null>, others: object = {}): Promise<void> {
    await this.session.assertMayGoOn();
    await this.session.kubernetes.mergePatch(nodeReference(this.node.name), {
      metadata: { annotations },
      ...others,
    });
  }

  private event(reason: string, message: string): Promise<void> {
    return this.record.event({ node: this.node.name, reason, message });
  }
}

const differs = (desired?: string, current?: string) => current !== undefined && desired !== current;
