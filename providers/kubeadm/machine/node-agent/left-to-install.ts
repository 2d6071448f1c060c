import { describeAgentChange, type AgentWish } from "./wish";

/** What a machine's agent has said of itself on its Node. */
export interface AgentTold {
  /** Whether there is any word of an agent's. */
  hasSpoken: boolean;
  /** The revision that it was installed with; absent from agents before 1.1.0. */
  revision?: string;
  /** Why its machine is taken to be out of reach, if it is. */
  outOfReach?: string;
}

/**
 * What is left to do on one machine. The record alone can't tell, since a run that failed on some machines leaves the
 * same record as one that did not: what the agent itself says goes before it.
 *
 * @param recorded the wish that the record has for this very machine, if any
 * @param told what its Node says; undefined when it has none or the cluster could not be read
 * @param revision `agentRevision(wish)`
 * @returns steps for people; empty when nothing is left
 */
export function leftToInstall(
  machine: string,
  wish: AgentWish,
  revision: string,
  recorded: AgentWish | undefined,
  told: AgentTold | undefined,
): string[] {
  if (recorded !== undefined && told?.revision === revision) return [];
  const byRecord = describeAgentChange(machine, recorded, wish);
  if (byRecord.length > 0 || told === undefined) return byRecord;
  const wasLeftOut = told.revision !== undefined || !told.hasSpoken;
  return wasLeftOut ? describeAgentChange(machine, undefined, wish) : [];
}
