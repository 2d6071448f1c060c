import { DANGERS } from "../../review/steps";
import { stacksOf } from "../plan/fleet";
import type { FleetReview } from "../plan/review";

/** A dangerous line with the stacks that have it, in the order of the waves. */
interface FleetDanger {
  readonly kind: string;
  readonly words: string;
  readonly stacks: readonly string[];
}

/** Returns the dangers of a fleet, the worst first; one that several stacks have is there once. */
export function fleetDangers({ fleet, stacks }: FleetReview): FleetDanger[] {
  const found = new Map<string, { kind: string; words: string; stacks: string[] }>();
  for (const stack of stacksOf(fleet))
    for (const { kind, words } of stacks[stack]?.dangers ?? []) {
      const key = JSON.stringify([kind, words]);
      const danger = found.get(key) ?? { kind, words, stacks: [] };
      if (!danger.stacks.includes(stack)) danger.stacks.push(stack);
      found.set(key, danger);
    }
  const rank = ({ kind }: FleetDanger) => DANGERS.findIndex((one) => one === kind);
  return [...found.values()].sort((one, other) => rank(one) - rank(other));
}
