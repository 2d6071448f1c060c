import { DrainRefused, KubernetesError, type Node } from "../../../../lib/kubernetes";
import { WaitTimeout } from "../../../../lib/wait";
import {
  annotationKeys,
  annotationValue,
  CERTIFICATES,
  DRIFT,
  FAILED_CHANGE,
  GO_BACK,
  OS_UPDATES,
  WAS_CORDONED,
} from "../../plan/rollout/annotations";
import { missedOf, refuseBack } from "../../plan/rollout/back";
import { formatFailedChange } from "../../plan/rollout/failed-change";
import {
  type Asked,
  failedBack,
  hasGivenUp,
  observeRolloutNode,
  pendingBack,
  pendingOf,
  type RolloutNode,
} from "../../plan/rollout/observed";
import { isStarted } from "../../plan/rollout/next";
import type { RolloutStep } from "../../plan/rollout/plan";
import { staysCordoned } from "../../plan/rollout/desired";
import { desiredSoftware, type DesiredRollout } from "../../plan/rollout/desired";
import { nodeReference } from "../session/cluster-session";
import { untilEtcdSpares } from "../membership/etcd-membership";
import { awaitedBack, awaitedOfAgent, hasBegun, withdrawnRequest } from "../../plan/rollout/silent-agent";
import { assertPreviewedUpdates } from "../updates/rollout";
import type { RolloutRecord, RolloutSession } from "./record";
import { AgentStopped, AgentWatch } from "./silent-agent";

/** How long an agent may take to go back: longer than it waits for anything there. */
const LONGEST_BACK_SECONDS = 600;

/** A node refused what was requested, and would refuse it again. */
class NodeRefused extends Error {
  readonly next: string;

  constructor(message: string, { drains }: Pick<RolloutStep, "drains">) {
    super(message);
    const until = drains ? "the node stays cordoned until then, and " : "";
    this.next = `fix the value, or take it back, and run the command again: ${until}no other node gets the change`;
  }
}

/** A change failed on a node, which has what it had before, and takes pods. */
class NodeWentBack extends Error {
  readonly next =
    "fix the value, or take it back, and run the command again: with the same value, it is tried on this node first, and no other node gets it before";
}

/** A node could not be drained, and is as it was. */
class NodeUnchanged extends Error {
  readonly next =
    "let the pods go (more replicas, or another budget), or take the change back, and run the command again";
}

/** The agent of a node does not run, so nothing can change there. */
class AgentMissing extends Error {
  readonly next =
    "look at the machine (systemctl status foresail-node-agent), and run the command again, which installs the agent again";
}

/** The revision of an agent that has to be installed again: that of none. */
const UNKNOWN_REVISION = "none";

/**
 * The loop of seed 004 on one node: opens its change window, cordons and drains it, requests the versions in one write,
 * waits until the agent has installed them and the node is Ready with them, uncordons it and closes the window. All
 * state is in the Node's annotations, so a later run continues after a killed one.
 */
export class NodeUpgrade {
  private readonly keys;
  private readonly wanted: Record<string, string>;
  /** The node as it was seen last. */
  private latest: RolloutNode;

  constructor(
    private readonly session: RolloutSession,
    private readonly record: RolloutRecord,
    readonly step: RolloutStep,
    private readonly node: RolloutNode,
    desired: DesiredRollout,
  ) {
    this.keys = annotationKeys(session.inputs.rollout.annotations);
    this.wanted = desiredSoftware(desired, step.to, step);
    this.latest = node;
  }

  /** Opens the change window, and records in the same write if the node was cordoned before. */
  async open(): Promise<void> {
    const { node, keys, step } = this;
    if (step.resumed) return;
    assertPreviewedUpdates(node, step.updateRequest);
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
      step.resumed &&
      !isRecalled &&
      !node.goingBack &&
      Object.keys(wanted).every((name) => node.desired[name] === wanted[name]);
    if (!closesOnly && !isAsked) {
      if (step.controlPlane) await untilEtcdSpares(session, node.name);
      await session.assertMayGoOn();
      // a person uncordoned it since: what comes now is this rollout's own cordon
      if (node.cordonedBefore && !staysCordoned(node)) await this.annotate({ [WAS_CORDONED]: null });
      if (step.drains) {
        await session
          .drain(node.name, session.inputs.drain)
          .catch((error: unknown) => this.giveUpDrain(error));
        this.event("RolloutDrained", "cordoned and drained");
      }
      await this.annotate(
        { ...this.withdrawals(), ...this.requests(wanted), ...this.anotherTry() },
        step.keepsPods ? { spec: { unschedulable: true } } : {},
      );
    } else if (node.finalFailure) await this.annotate(this.anotherTry());
    try {
      await this.untilDone({ version: step.to, software: closesOnly ? undefined : wanted });
    } catch (error) {
      if (error instanceof AgentStopped) await this.withdraw(error, closesOnly);
      if (!(error instanceof NodeRefused || error instanceof WaitTimeout)) throw error;
      await this.goBack(error);
    }
    const isUpdated = OS_UPDATES in wanted || OS_UPDATES in node.desired;
    await this.close("RolloutFinished", {
      [FAILED_CHANGE]: null,
      // the next list of updates may have the same hash
      ...(isUpdated ? { [this.keys.desired(OS_UPDATES)]: null } : {}),
    });
  }

  /**
   * Uncordons a node that could not be drained, unless something on it has changed before.
   *
   * @throws NodeUnchanged when the node was uncordoned; otherwise the failure itself
   */
  private async giveUpDrain(failure: unknown): Promise<never> {
    const { session, node, step } = this;
    const isOfPods =
      failure instanceof WaitTimeout || failure instanceof DrainRefused || failure instanceof KubernetesError;
    const isChanged = step.resumed && (isStarted(node) || node.goingBack === true);
    if (!isOfPods || isChanged || session.inputs.rollout.onFailure === "stop") throw failure;
    await this.close("RolloutNotDrained", {}).catch(() => {
      throw failure;
    });
    const now = staysCordoned(node) ? "is cordoned as before" : "takes pods again";
    throw new NodeUnchanged(`${failure.message}; ${node.name} was not changed, and ${now}`);
  }

  /**
   * Takes back the request of a node whose agent can't be started, so that it does not begin later, and uncordons the node. One
   * that had begun keeps its request, which the next run repeats or replaces. The next run installs the agent again.
   *
   * @throws AgentMissing
   */
  private async withdraw(failure: AgentStopped, closesOnly: boolean): Promise<never> {
    const { keys, node, wanted, latest, session } = this;
    if (closesOnly || hasBegun(latest) || session.inputs.rollout.onFailure === "stop")
      return this.leave(failure.message);
    const had = Object.entries(withdrawnRequest(wanted, latest.current)).map(
      ([name, version]): [string, string | null] => [
        keys.desired(name),
        version === null ? null : annotationValue(name, version),
      ],
    );
    await this.close("RolloutWithdrawn", { [keys.revision]: UNKNOWN_REVISION, ...Object.fromEntries(had) });
    const now = staysCordoned(node) ? "is cordoned as before" : "takes pods again";
    throw new AgentMissing(
      `${failure.message}; ${node.name} was not changed, is no longer asked to, and ${now}`,
    );
  }

  /** Leaves a node as it is, whose agent the next run installs again. @throws AgentMissing */
  private async leave(why: string): Promise<never> {
    await this.annotate({ [this.keys.revision]: UNKNOWN_REVISION });
    throw new AgentMissing(`${why}; ${this.node.name} stays as it is until its agent runs`);
  }

  /**
   * Lets the agent take back what it has changed, uncordons the node, and records there what failed.
   *
   * @throws NodeWentBack when it has; NodeRefused, or the failure itself, when the node stays as it is
   */
  private async goBack(failure: Error): Promise<never> {
    const { session, node, step, keys } = this;
    const { rollout } = session.inputs;
    // what others changed in files meanwhile is not part of it, and renewed certificates stay
    const { [DRIFT]: _, [CERTIFICATES]: _renewal, ...wanted } = this.wanted;
    const stays = refuseBack(step, rollout.onFailure);
    if (stays !== undefined)
      throw failure instanceof NodeRefused ? new NodeRefused(`${failure.message}; ${stays}`, step) : failure;
    session.progress(`${node.name} goes back to what it had, since the change failed: ${failure.message}`);
    await this.annotate({ [keys.changesAllowed]: GO_BACK, [keys.finalFailure]: null });
    let current: Record<string, string> = {};
    try {
      const what = `${node.name} to go back to what it had and be Ready`;
      const seconds = Math.min(rollout.nodeTimeoutSeconds, LONGEST_BACK_SECONDS);
      const watch = new AgentWatch(session, node.name, (seen) =>
        awaitedBack(seen, missedOf(wanted, seen.current)),
      );
      const decide = (object: Node | undefined) => {
        if (!object) return { pending: "its Node is not in the cluster" };
        const observed = observeRolloutNode(object, rollout.annotations);
        watch.saw(observed);
        const why = failedBack(observed);
        if (why !== undefined) throw new NodeRefused(`${failure.message}; ${why}`, step);
        current = observed.current;
        const pending = pendingBack(observed, missedOf(wanted, current));
        return pending === undefined ? { done: undefined } : { pending };
      };
      await watch.during((ended) => session.untilNode(node.name, what, seconds, decide, ended));
    } catch (error) {
      if (error instanceof AgentStopped)
        return this.leave(`${failure.message}; it could not go back: ${error.message}`);
      if (!(error instanceof WaitTimeout)) throw error;
      throw new NodeRefused(`${failure.message}; it could not go back: ${error.message}`, step);
    }
    const had = Object.keys(wanted).map((name): [string, string | null] => [
      keys.desired(name),
      current[name] === undefined ? null : annotationValue(name, current[name]),
    ]);
    const record = formatFailedChange({ asked: missedOf(wanted, current), why: failure.message });
    await this.close("RolloutWentBack", { ...Object.fromEntries(had), [FAILED_CHANGE]: record });
    throw new NodeWentBack(`${failure.message}; ${node.name} went back to what it had, and takes pods again`);
  }

  private async untilDone(asked: Asked): Promise<void> {
    const { session, node, step } = this;
    const { drift, rollout } = session.inputs;
    const { nodeTimeoutSeconds, annotations } = rollout;
    const what = `${node.name} to run ${step.to} and be Ready`;
    const watch = new AgentWatch(session, node.name, (seen) => awaitedOfAgent(seen, asked));
    const decide = (object: Node | undefined) => {
      if (!object) return { pending: "its Node is not in the cluster" };
      const observed = observeRolloutNode(object, annotations, drift === "repair");
      this.latest = observed;
      watch.saw(observed);
      const pending = pendingOf(observed, asked);
      if (pending !== undefined && hasGivenUp(observed, asked))
        throw new NodeRefused(`${node.name}: ${observed.message ?? pending}`, step);
      return pending === undefined ? { done: undefined } : { pending };
    };
    await watch.during((ended) => session.untilNode(node.name, what, nodeTimeoutSeconds, decide, ended));
    this.event("RolloutUpgraded", `runs ${step.to} and is Ready`);
  }

  /** Closes the window in one write, so that a kill never leaves the node uncordoned with its window open. */
  private async close(reason: string, annotations: Record<string, string | null>): Promise<void> {
    const { node, keys } = this;
    const isLeftCordoned = staysCordoned(node);
    await this.annotate(
      { ...annotations, [keys.changesAllowed]: "false", [WAS_CORDONED]: null },
      isLeftCordoned ? {} : { spec: { unschedulable: null } },
    );
    const words = isLeftCordoned ? "left cordoned, as it was before" : "uncordoned";
    this.event(reason, `${words}, change window closed`);
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

  /** Returns the annotations that make an agent try again what failed for good in an earlier run, or was being taken back. */
  private anotherTry(): Record<string, string | null> {
    const { node, keys } = this;
    return {
      ...(node.finalFailure ? { [keys.finalFailure]: null } : {}),
      ...(node.goingBack ? { [keys.changesAllowed]: "true" } : {}),
    };
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
