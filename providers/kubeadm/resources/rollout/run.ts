import { PartialFailure } from "../../../../lib/pulumi/failure";
import type { KubernetesClient, Node } from "../../../../lib/kubernetes";
import { LEFT_OUT_NEXT, leftOutStep, onlyLeftOut, type LeftOut } from "../../plan/rollout/state";
import { nextSteps, type NextSteps } from "../../plan/rollout/next";
import { describeRolloutStep, type RolloutStep } from "../../plan/rollout/plan";
import { nodeRolloutSteps } from "../../plan/steps";
import { toleratedUnreachable } from "../../plan/membership/unreachable";
import { report } from "../../../../lib/pulumi/log";
import { errorOf } from "../session/machines-session";
import { ClusterSession, connect } from "../session/cluster-session";
import type { NodeRolloutInputs, NodeRolloutOutputs } from "../declarations";
import { snapshotAt } from "../../plan/backup/backup";
import { takeRolloutSnapshot } from "../backup/rollout-snapshot";
import { NodeUpgrade } from "./one-node";
import { renewKubelets } from "../certificates/kubelets";
import { observedNodes, observeRollout, type RolloutObservation } from "./preview";
import { BeginPermission, RolloutRecord, type RolloutSession } from "./record";

/** What is known of the cluster without this run. */
export type KnownOutputs = Pick<NodeRolloutOutputs, "nodes" | "version">;

/**
 * Brings every node to the desired versions. When nothing is due, nothing is written and the Lease is not acquired.
 *
 * @param last what was known before, for an unreachable cluster
 * @throws PartialFailure with everything that was done before a failure
 */
export async function convergeVersions(
  id: string,
  resource: string,
  inputs: NodeRolloutInputs,
  last: KnownOutputs,
): Promise<NodeRolloutOutputs> {
  // the state also has the inputs of the last run, which are not these
  const outputs: NodeRolloutOutputs = { ...inputs, nodes: last.nodes, version: last.version };
  let step = "reach the cluster";
  let kubernetes: KubernetesClient | undefined;
  let session: RolloutSession | undefined;
  let run: RolloutRun | undefined;
  const look = async (client: KubernetesClient) => {
    const observation = await observeRollout(client, inputs);
    outputs.nodes = observation.outputs;
    outputs.version = observation.desired.clusterVersion ?? inputs.specification.version;
    return observation;
  };
  try {
    kubernetes = await connect(resource, inputs);
    const { nodes, desired, unreached } = await look(kubernetes);
    const next = nextSteps(nodes, desired, { unreached });
    const { renewingKubelets = [] } = inputs;
    if (next.done && renewingKubelets.length === 0) {
      tolerate(resource, inputs, next.leftOut);
      return outputs;
    }
    session = await ClusterSession.open(resource, inputs);
    step = "renew the certificates of kubelets";
    const silent = await renewKubelets(session, renewingKubelets);
    step = "roll out";
    run = new RolloutRun(session);
    await run.toEnd();
    step = "renew the certificates of kubelets";
    if (silent.length > 0) throw errorOf(silent);
    step = "read the nodes";
    await look(kubernetes);
    return outputs;
  } catch (error) {
    if (kubernetes) await look(kubernetes).catch(() => undefined);
    throw new PartialFailure(id, outputs, { resource, step: run?.failedStep ?? step }, error);
  } finally {
    kubernetes?.close();
    await session?.end();
  }
}

/** The rollout did everything possible, and left out unreachable workers. */
class NodesLeftOut extends Error {
  readonly next = LEFT_OUT_NEXT;

  constructor(leftOut: readonly LeftOut[], excess?: string) {
    super(onlyLeftOut(leftOut, excess));
  }
}

/** Nodes that the preview said to be down still are. */
class NodesDown extends Error {
  readonly next =
    "start these machines and run the command again; or, for a worker, pause it (rollout.pausedNodes), or take it out of the configuration and list it under `lost`";
}

/** @throws NodesLeftOut when these are more machines than the configuration tolerates; otherwise prints each of them */
function tolerate(
  resource: string,
  { machines, rollout }: Pick<NodeRolloutInputs, "machines" | "rollout">,
  leftOut: readonly LeftOut[],
): void {
  const names = leftOut.map(({ node }) => node);
  const { tolerated, excess } = toleratedUnreachable(machines, names, rollout.unreachable);
  if (tolerated.length < names.length) throw new NodesLeftOut(leftOut, excess);
  for (const each of leftOut) report(resource, nodeRolloutSteps.format(leftOutStep(each)));
}

const downOf = ({ nodes }: RolloutObservation): ReadonlySet<string> =>
  new Set(nodes.filter(({ unreachable }) => unreachable).map(({ name }) => name));

/** One run of the rollout: continues from any state of the nodes until nothing is due. */
class RolloutRun {
  private readonly running = new Map<string, Promise<void>>();
  private readonly record: RolloutRecord;
  private readonly permission: BeginPermission;
  private failure?: Error;
  /** Whether this run has looked at the first control plane that changes: before it, there is a snapshot. */
  private hasSnapshot = false;
  /** Names of the nodes that did not report when the run began. */
  private foundDown?: ReadonlySet<string>;
  /** The step of the node at which the rollout stopped, if it stopped at one. */
  failedStep?: string | undefined;

  constructor(private readonly session: RolloutSession) {
    this.record = new RolloutRecord(session);
    this.permission = new BeginPermission(session);
  }

  /**
   * Observes the cluster after each change and begins the next steps. After a failure, nodes in progress are finished,
   * and no other node begins.
   *
   * @throws NodesLeftOut, RolloutPaused, the error of a node, Error with the reason why no node may begin
   */
  async toEnd(): Promise<void> {
    try {
      while (!(await this.advance()));
    } catch (error) {
      this.failure ??= error as Error;
    }
    await Promise.all(this.running.values());
    await this.record.written();
    if (this.failure) throw this.failure;
  }

  /** @returns whether the rollout has ended */
  private async advance(): Promise<boolean> {
    await this.session.assertMayGoOn();
    const observation = await this.observe();
    this.foundDown ??= downOf(observation);
    const next = this.nextOf(observation);
    if (next.finish.length > 0) {
      await this.keepsSnapshot(next.finish);
      await this.start(next.finish, observation);
    } else if (next.begin.length > 0) {
      const hasWaited = await this.permission.ask(next.begin.map(({ node }) => node).join(", "));
      // soak and gate may have taken minutes
      const latest = hasWaited ? await this.observe() : observation;
      const { begin } = this.nextOf(latest);
      // a snapshot may have taken minutes, too
      if (!this.failure && !(await this.keepsSnapshot(begin))) await this.start(begin, latest);
    }
    if (this.failure) return true;
    if (this.running.size > 0) {
      await Promise.race(this.running.values());
      return this.failure !== undefined;
    }
    if (next.finish.length > 0 || next.begin.length > 0) return false;
    if (next.done) {
      tolerate(this.session.resource, this.session.inputs, next.leftOut);
      return true;
    }
    if (next.stop !== undefined) throw new Error(next.stop);
    // one that goes down during the run may be restarting
    if (next.down?.some((name) => this.foundDown?.has(name))) throw new NodesDown(next.waiting.join("; "));
    await this.untilSomethingMayBegin(observation);
    return false;
  }

  private observe(): Promise<RolloutObservation> {
    return observeRollout(this.session.kubernetes, this.session.inputs);
  }

  private nextOf({ nodes, desired, unreached }: RolloutObservation): NextSteps {
    return nextSteps(nodes, desired, { begun: [...this.running.keys()], unreached });
  }

  /** Opens the windows in the order of the steps; the remaining work of the nodes runs in parallel. */
  private async start(steps: RolloutStep[], { nodes, desired }: RolloutObservation): Promise<void> {
    for (const step of steps) {
      const node = nodes.find(({ name }) => name === step.node);
      if (!node) continue;
      const batch = new NodeUpgrade(this.session, this.record, step, node, desired);
      const words = describeRolloutStep(step);
      const started = Date.now();
      const seconds = () => (Date.now() - started) / 1000;
      this.session.progress(`begins ${words}`);
      const opened = batch.open();
      const work = opened
        .then(() => batch.finish())
        .then(
          () => this.succeeded(step, words, seconds()),
          (error: unknown) => this.failed(step, words, seconds(), error as Error),
        )
        .finally(() => this.running.delete(step.node));
      this.running.set(step.node, work);
      await opened.catch(() => undefined);
      if (this.failure) return;
    }
  }

  /** Takes the snapshot of this run before the first control plane begins to change. @returns whether it did */
  private async keepsSnapshot(steps: readonly RolloutStep[]): Promise<boolean> {
    const { backup } = this.session.inputs;
    if (backup === undefined || this.hasSnapshot || !steps.some(({ controlPlane }) => controlPlane))
      return false;
    this.hasSnapshot = true;
    if (snapshotAt(steps) < 0) return false;
    this.failedStep = "snapshot etcd";
    await takeRolloutSnapshot(this.session, backup);
    this.failedStep = undefined;
    return true;
  }

  private succeeded({ node, to }: RolloutStep, words: string, seconds: number): void {
    this.permission.ended(seconds);
    this.session.progress(`${node} runs ${to}, ${Math.round(seconds)} s`);
    this.record.history(words, "done", seconds);
  }

  private failed({ node }: RolloutStep, words: string, seconds: number, error: Error): void {
    if (!this.failure) [this.failure, this.failedStep] = [error, words];
    this.record.event({ node, reason: "RolloutFailed", message: error.message, type: "Warning" });
    this.record.history(words, `failed: ${error.message}`, seconds);
  }

  /** Waits for conditions that may come true without a person's help: a node becomes Ready, an agent reports. */
  private async untilSomethingMayBegin({ desired, unreached }: RolloutObservation): Promise<void> {
    const isBatch = ({ finish, begin, done, stop }: NextSteps) =>
      finish.length > 0 || begin.length > 0 || done || stop !== undefined;
    const { kubernetes, inputs, waiting } = this.session;
    await kubernetes.watchUntil<void, Node>({
      apiVersion: "v1",
      kind: "Node",
      what: "the next node to be free to begin",
      seconds: inputs.timeouts.ready,
      ...waiting,
      decide: (objects) => {
        const nodes = observedNodes(objects, inputs);
        const next = nextSteps(nodes, desired, { unreached });
        return isBatch(next)
          ? { done: undefined }
          : { pending: next.waiting.join("; ") || "nothing that can be begun" };
      },
    });
  }
}
