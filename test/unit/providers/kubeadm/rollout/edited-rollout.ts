import { DRIFT } from "../../../../../providers/kubeadm/plan/rollout/annotations";
import {
  type DesiredRollout,
  desiredSoftware,
  staysCordoned,
} from "../../../../../providers/kubeadm/plan/rollout/desired";
import {
  hasGivenUp,
  pendingOf,
  type RolloutNode,
} from "../../../../../providers/kubeadm/plan/rollout/observed";
import { minorsBetween } from "../../../../../providers/kubeadm/plan/rollout/versions";
import { type InHand, SimulatedRollout } from "./simulated-rollout";

/** Values that the program which reads them refuses on every node. */
export const REFUSED = ["1.36.9", "9.9.9", "m9.k9.p9", "m9.k9"];

/** What a machine keeps beside its Node's annotations. */
interface Machine {
  /** A change began and has not ended. */
  unfinished: boolean;
  off: boolean;
  /** A budget blocks the drain of its node. */
  blocked: boolean;
  /** A person cordoned its node. */
  cordoned: boolean;
  /** What the agent was last refused. */
  refused?: string;
}

/**
 * A rollout whose desired state is edited in between, as whole runs: values that programs refuse, machines that are off,
 * drains that budgets block, and a person who cordons and uncordons. Its writes are those of `NodeUpgrade`, its agents
 * have only what today's desired state stages on the machines.
 */
export class EditedRollout extends SimulatedRollout {
  /** A node failed: no other one begins in this run. */
  failed = false;
  private readonly machines = new Map<string, Machine>();

  machine(name: string): Machine {
    const found = this.machines.get(name) ?? {
      unfinished: false,
      off: false,
      blocked: false,
      cordoned: false,
    };
    this.machines.set(name, found);
    return found;
  }

  /** The stack file is edited, and a new `up` begins. */
  edit(desired: DesiredRollout): void {
    this.desired = { ...desired, clusterVersion: this.clusterVersion };
    this.kill();
  }

  override kill(): void {
    super.kill();
    this.failed = false;
    this.taken.length = 0;
  }

  power(name: string, on: boolean): void {
    const node = this.nodes.get(name);
    if (!node) return;
    this.machine(name).off = !on;
    node.ready = on;
    if (on) delete node.unreachable;
    else node.unreachable = true;
  }

  /** A person cordons or uncordons a node, which no run has in hand. */
  cordon(name: string, cordoned: boolean): void {
    const node = this.nodes.get(name);
    if (!node) return;
    if (this.hands.has(name)) this.kill();
    this.machine(name).cordoned = cordoned;
    node.unschedulable = cordoned;
  }

  override look(): boolean {
    return this.failed ? false : super.look();
  }

  protected override goOn(hand: InHand): boolean {
    const { step, found } = hand;
    const node = this.nodes.get(step.node) as RolloutNode;
    const wanted = desiredSoftware(this.desired, step.to, step);
    const closesOnly = step.resumed && step.software.length === 0 && step.recalled === undefined;
    const isAsked =
      step.resumed &&
      step.recalled === undefined &&
      Object.keys(wanted).every((name) => found.desired[name] === wanted[name]);
    switch (hand.stage) {
      case "open":
        if (!step.resumed) {
          node.changesAllowed = true;
          node.cordonedBefore ||= found.unschedulable;
          for (const [name, asked] of Object.entries(node.desired)) {
            const has = node.current[name];
            if (has !== undefined && has !== asked) node.desired[name] = has;
          }
        }
        hand.stage = "ask";
        return true;
      case "ask":
        if (!closesOnly && !isAsked && step.drains && !hand.drained) {
          if (this.machine(node.name).blocked && node.unschedulable) return false;
          hand.drained = !this.machine(node.name).blocked;
          node.cordonedBefore &&= staysCordoned(found);
          node.unschedulable = true;
          return true;
        }
        if (!closesOnly && !isAsked) {
          for (const { name, to } of step.recalled ?? [])
            if (to === undefined) delete node.desired[name];
            else node.desired[name] = to;
          Object.assign(node.desired, wanted);
        }
        if (found.finalFailure) delete node.finalFailure;
        hand.stage = "wait";
        return true;
      case "wait": {
        const asked = { version: step.to, software: closesOnly ? undefined : wanted };
        if (pendingOf(node, asked) === undefined) hand.stage = "close";
        else if (hasGivenUp(node, asked)) {
          this.failed = true;
          this.hands.delete(node.name);
        } else return false;
        return true;
      }
      case "uncordon":
      case "close":
        node.changesAllowed = false;
        node.cordonedBefore = false;
        if (!staysCordoned(found)) node.unschedulable = false;
        this.hands.delete(node.name);
        return true;
    }
  }

  /** One thing that the agent does, by the Node's annotations, its machine's record and what is staged there. */
  protected override work(node: RolloutNode): boolean {
    const machine = this.machine(node.name);
    if (machine.off) return false;
    const due = Object.keys(node.desired).filter((name) => node.desired[name] !== node.current[name]);
    if (!node.changesAllowed || (due.length === 0 && !machine.unfinished)) {
      const isReady = !machine.unfinished;
      if (node.agentReady === isReady) return false;
      node.agentReady = isReady;
      return true;
    }
    const request = Object.entries(node.desired).map(([name, version]) => `${name}@${version}`);
    if (machine.refused === request.join(" ") && node.finalFailure) return false;
    const refuse = () => {
      machine.refused = request.join(" ");
      node.finalFailure = request;
      return true;
    };
    const to = node.desired.kubelet ?? node.kubeletVersion;
    if (due.some((name) => !this.isStaged(node, name))) return refuse();
    if (![0, 1].includes(minorsBetween(node.kubeletVersion, to))) return refuse();
    if (node.agentReady !== false || !machine.unfinished) {
      machine.unfinished = true;
      node.agentReady = false;
      return true;
    }
    const [first = ""] = due.filter((name) => name !== "kubelet").concat(due);
    if (first === "") {
      // what was half done is completed, and the kubelet is up again
      Object.assign(node, { ready: true, agentReady: true });
      delete node.finalFailure;
      machine.unfinished = false;
    } else if (REFUSED.includes(node.desired[first] ?? "")) {
      node.ready = false;
      return refuse();
    } else if (first === "kubelet" && this.mustApply(node, due, to)) this.clusterVersion = to;
    else if (first === "kubelet" && node.ready) node.ready = false;
    else {
      node.current[first] = node.desired[first] ?? "";
      if (first === "kubelet") node.kubeletVersion = to;
      if (first === DRIFT) delete node.drift;
    }
    return true;
  }

  private isStaged(node: RolloutNode, name: string): boolean {
    const { version, intermediates } = this.desired;
    const asked = node.desired[name];
    if (name.startsWith("kube")) return asked === version || intermediates.includes(asked ?? "");
    return name === DRIFT || desiredSoftware(this.desired, version, node)[name] === asked;
  }
}
