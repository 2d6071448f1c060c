import { readiness, type NodeObject } from "../node-status";

/** Decides whether all expected nodes are Ready. */
export function decideReady(
  wanted: readonly string[],
  nodes: readonly NodeObject[],
): { done: true } | { pending: string } {
  const missing = wanted.flatMap((name) => {
    const node = nodes.find((each) => each.metadata?.name === name);
    const state = node === undefined ? "not there" : readiness(node);
    return state === "Ready" ? [] : [`${name}: ${state}`];
  });
  return missing.length === 0 ? { done: true } : { pending: missing.join("; ") };
}
