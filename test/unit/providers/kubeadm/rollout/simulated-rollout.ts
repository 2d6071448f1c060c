import { nextSteps, type NextSteps } from "../../../../../providers/kubeadm/plan/rollout/next";
import type { RolloutNode } from "../../../../../providers/kubeadm/plan/rollout/observed";
import type { RolloutStep } from "../../../../../providers/kubeadm/plan/rollout/desired";
import { minorsBetween } from "../../../../../providers/kubeadm/plan/rollout/versions";
import { desiredSoftware, type DesiredRollout } from "../../../../../providers/kubeadm/plan/rollout/desired";

/** What a rollout has done so far with one node. */
type Stage = "open" | "ask" | "wait" | "uncordon" | "close";

export interface InHand {
  step: RolloutStep;
  stage: Stage;
  /** the Node when the step was computed */
  found: RolloutNode;
  /** its node is drained */
  drained?: boolean;
  /** begun by this run, and not found open */
  begun: boolean;
}

/**
 * A cluster with a node agent on every node, and a rollout over it, as small moves that may come in any order and
 * end at any point: what is remembered is the Nodes and kubeadm-config only, as with real ones.
 */
export class SimulatedRollout {
  readonly nodes: Map<string, RolloutNode>;
  clusterVersion: string | undefined;
  /** every step that a run began, in order */
  readonly taken: RolloutStep[] = [];
  /** the result of the last read of the cluster */
  last: NextSteps | undefined;
  protected hands = new Map<string, InHand>();

  constructor(
    nodes: readonly RolloutNode[],
    protected desired: DesiredRollout,
    /** called after every move */
    private readonly check: (rollout: SimulatedRollout) => void = () => undefined,
  ) {
    this.nodes = new Map(nodes.map((node) => [node.name, structuredClone(node)]));
    this.clusterVersion = desired.clusterVersion;
  }

  list(): RolloutNode[] {
    return [...this.nodes.values()];
  }

  /** Reads the cluster and begins what may begin. @returns whether there was anything new */
  look(): boolean {
    const begun = [...this.hands.values()].filter((hand) => hand.begun).map(({ step }) => step.node);
    const next = nextSteps(this.list(), { ...this.desired, clusterVersion: this.clusterVersion }, { begun });
    this.last = next;
    const fresh = [...next.finish, ...next.begin].filter(({ node }) => !this.hands.has(node));
    for (const step of fresh) {
      this.taken.push(step);
      const found = structuredClone(this.nodes.get(step.node) as RolloutNode);
      this.hands.set(step.node, { step, stage: "open", found, begun: next.begin.includes(step) });
    }
    return fresh.length > 0;
  }

  /** The rollout's process is killed and loses its memory. */
  kill(): void {
    this.hands = new Map();
  }

  /** One move, chosen by a number: the rollout looks, continues with one node, or an agent does. @returns whether it did anything */
  move(choice: number): boolean {
    const hands = [...this.hands.values()];
    const at = choice % (1 + hands.length + this.nodes.size);
    const chosen = hands[at - 1];
    // a run opens the windows of a batch one after the other, in the order of the steps
    const hand = chosen?.stage === "open" ? hands.find(({ stage }) => stage === "open") : chosen;
    const node = this.list()[at - 1 - hands.length];
    const moved = at === 0 ? this.look() : hand ? this.goOn(hand) : this.work(node as RolloutNode);
    if (moved) this.check(this);
    return moved;
  }

  /** Runs until nothing moves any more. @throws Error when that does not happen */
  settle(): void {
    for (let round = 0; round < 5_000; round++) {
      let moved = false;
      for (let choice = 0; choice <= this.hands.size + this.nodes.size; choice++)
        moved = this.move(choice) || moved;
      if (!moved) return;
    }
    throw new Error("the rollout does not end");
  }

  /** The rollout's part of seed 004: open, cordon and drain and write, wait, uncordon, close. */
  protected goOn(hand: InHand): boolean {
    const node = this.nodes.get(hand.step.node) as RolloutNode;
    const wanted = desiredSoftware(this.desired, hand.step.to, node);
    const names = Object.keys(wanted);
    switch (hand.stage) {
      case "open":
        if (!node.changesAllowed) node.cordonedBefore = node.unschedulable;
        node.changesAllowed = true;
        hand.stage = "ask";
        return true;
      case "ask":
        if (names.every((name) => (node.desired[name] ?? node.current[name]) === wanted[name]))
          hand.stage = "wait";
        else if (hand.step.drains && !node.unschedulable) node.unschedulable = true;
        else node.desired = { ...node.desired, ...wanted };
        return true;
      case "wait":
        if (!node.agentReady || !node.ready || node.kubeletVersion !== hand.step.to) return false;
        if (names.some((name) => node.current[name] !== wanted[name])) return false;
        hand.stage = "uncordon";
        return true;
      case "uncordon":
        node.unschedulable = node.cordonedBefore;
        hand.stage = "close";
        return true;
      case "close":
        node.changesAllowed = false;
        node.cordonedBefore = false;
        this.hands.delete(node.name);
        return true;
    }
  }

  /** The agent's part: one thing at a time, chosen by the annotations alone, so that it may die between any two. */
  protected work(node: RolloutNode): boolean {
    const apart = Object.keys(node.desired).filter((name) => node.desired[name] !== node.current[name]);
    const to = node.desired.kubelet ?? node.kubeletVersion;
    // it has installers only for the versions of a rollout
    if (!node.changesAllowed || ![0, 1].includes(minorsBetween(node.kubeletVersion, to))) return false;
    if (apart.length === 0) {
      if (node.ready && node.agentReady) return false;
      if (node.ready) node.agentReady = true;
      else node.ready = true;
    } else if (node.agentReady) node.agentReady = false;
    else if (apart.includes("kubeadm")) node.current.kubeadm = node.desired.kubeadm as string;
    else if (this.mustApply(node, apart, to)) this.clusterVersion = to;
    else if (apart.includes("kubelet") && node.ready) node.ready = false;
    else if (apart.includes("kubelet")) {
      node.kubeletVersion = to;
      node.current.kubelet = to;
    } else for (const name of apart) node.current[name] = node.desired[name] as string;
    return true;
  }

  protected mustApply(node: RolloutNode, apart: string[], to: string): boolean {
    const ahead = this.clusterVersion !== undefined && minorsBetween(this.clusterVersion, to) < 0;
    return node.controlPlane && apart.includes("kubelet") && this.clusterVersion !== to && !ahead;
  }
}

/** What of a step is comparable between a preview and a run, and between a run and its resumption. */
export function stepKey({ node, to }: RolloutStep): string {
  return `${node} ${to}`;
}

/**
 * The steps' keys, each once, in the order of pools and versions: two nodes of a pool that are away together are
 * begun at the same time, so a kill between them may leave either. Closing a node that was only opened is not a step to
 * a version.
 */
export function inOrder(steps: readonly RolloutStep[]): string[] {
  const parts: { what: string; keys: Set<string> }[] = [];
  for (const step of steps.filter(({ software }) => software.length > 0)) {
    const what = `${step.pool} ${step.to}`;
    const last = parts.at(-1);
    if (last?.what === what) last.keys.add(stepKey(step));
    else parts.push({ what, keys: new Set([stepKey(step)]) });
  }
  return [...new Set(parts.flatMap(({ keys }) => [...keys].sort()))];
}

/** Whether a node is exactly as desired. */
export function isAsDesired(node: RolloutNode, desired: DesiredRollout): boolean {
  const wanted = desiredSoftware(desired, desired.version, node);
  return (
    node.kubeletVersion === desired.version &&
    !node.changesAllowed &&
    node.ready &&
    Object.keys(wanted).every((name) => node.current[name] === wanted[name])
  );
}
