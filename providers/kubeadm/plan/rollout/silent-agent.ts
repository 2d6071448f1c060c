import { isWorking, type Asked, type RolloutNode } from "./observed";

/** What a node waits for from its agent: that it begins, or that it ends what it does. */
export type AwaitedOfAgent = "begin" | "end";

/** Returns what a node waits for from its agent until it has what was requested; undefined when it waits for nothing of it. */
export function awaitedOfAgent(node: RolloutNode, { software }: Asked): AwaitedOfAgent | undefined {
  if (node.agentReady === false) return "end";
  if (software === undefined) return isWorking(node) ? "begin" : undefined;
  const hasAll = Object.entries(software).every(([name, version]) => node.current[name] === version);
  return node.agentReady && hasAll ? undefined : "begin";
}

/**
 * For how many seconds an agent may write nothing before a run looks whether it runs, and then again between two looks: one
 * that runs begins within seconds, and a step of it may take minutes.
 */
export const SILENT_SECONDS: Readonly<Record<AwaitedOfAgent, number>> = { begin: 15, end: 180 };

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
