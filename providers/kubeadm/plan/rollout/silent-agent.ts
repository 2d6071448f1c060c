import { KUBERNETES_SOFTWARE } from "./annotations";
import { isWorking, pendingBack, type Asked, type RolloutNode } from "./observed";

/** What a node waits for from its agent: that it begins, or that it ends what it does. */
export type AwaitedOfAgent = "begin" | "end";

/** Returns what a node waits for from its agent until it has what was requested; undefined when it waits for nothing of it. */
export function awaitedOfAgent(node: RolloutNode, { software }: Asked): AwaitedOfAgent | undefined {
  if (node.agentReady === false) return "end";
  if (software === undefined) return isWorking(node) ? "begin" : undefined;
  const hasAll = Object.entries(software).every(([name, version]) => node.current[name] === version);
  return node.agentReady && hasAll ? undefined : "begin";
}

/** Returns what a node that goes back waits for from its agent. @param missed what it was asked for and does not have */
export function awaitedBack(
  node: RolloutNode,
  missed: Readonly<Record<string, string>>,
): AwaitedOfAgent | undefined {
  if (node.agentReady === false) return "end";
  return node.ready && pendingBack(node, missed) !== undefined ? "begin" : undefined;
}

/** Seconds of a wait for an agent that writes nothing. */
export interface AgentPatience {
  /** Until a run looks at its machine, and between two looks. */
  readonly look: Readonly<Record<AwaitedOfAgent, number>>;
  /**
   * How long its processes may use no CPU. At work, systemd alone may take three minutes to restart a unit, and whatever else
   * waits there polls.
   */
  readonly idle: Readonly<Record<AwaitedOfAgent, number>>;
  /** The same of one that was started again, at least. */
  readonly anew: number;
  /** After which a refused login ends the wait for one that has not begun: waiting changes neither. */
  readonly refused: number;
}

export const AGENT_PATIENCE: AgentPatience = {
  look: { begin: 15, end: 60 },
  idle: { begin: 15, end: 300 },
  anew: 30,
  refused: 60,
};

/** What a look at an agent's machine has found and done. */
export type AgentLook =
  | { readonly kind: "started" | "ended" | "runs" }
  | { readonly kind: "says"; readonly words: string }
  /** The sum differs whenever its processes have used CPU time. */
  | { readonly kind: "works"; readonly sum: string };

export const isSumOfWork = (text: string): boolean => /^[0-9a-f]{16}$/.test(text);

/**
 * Returns whether a node may have a part of what was requested, so that the request can't be withdrawn: its agent has begun, or
 * the kubelet does not run with what the agent has installed.
 */
export const hasBegun = ({ agentReady, goingBack, current, kubeletVersion }: RolloutNode): boolean =>
  agentReady === false ||
  goingBack === true ||
  KUBERNETES_SOFTWARE.some((name) => (current[name] ?? kubeletVersion) !== kubeletVersion);

/** Returns all that an agent writes on its Node, as one text that changes whenever it writes. */
export const writtenByAgent = ({ agentReady, message, finalFailure, current }: RolloutNode): string =>
  JSON.stringify([agentReady, message, finalFailure, Object.entries(current).sort()]);

/** Returns whether an earlier run asked a node for something, and its agent neither began nor said why. */
export function ignoresRequest(node: RolloutNode): boolean {
  const { changesAllowed, goingBack, agentReady, message, desired, current } = node;
  if (!changesAllowed || goingBack || agentReady === false || message !== undefined) return false;
  return Object.entries(desired).some(([name, version]) => current[name] !== version);
}

/** Returns the versions that a node is asked for when a request is withdrawn: those that it has, and null for unknown ones. */
export function withdrawnRequest(
  requested: Readonly<Record<string, string>>,
  current: Readonly<Record<string, string>>,
): Record<string, string | null> {
  return Object.fromEntries(Object.keys(requested).map((name) => [name, current[name] ?? null]));
}
