import { describeAgentChange, type DesiredAgent } from "./desired-agent";

/** What a machine's agent has said of itself on its Node. */
export interface ReportedAgent {
  /** Whether there is any word of an agent's. */
  hasReported: boolean;
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
 * @param reported what its Node says; undefined when it has none or the cluster could not be read
 * @param revision `agentRevision(wish)`
 * @returns steps for people; empty when nothing is left
 */
export function leftToInstall(
  machine: string,
  desired: DesiredAgent,
  revision: string,
  recorded: DesiredAgent | undefined,
  reported: ReportedAgent | undefined,
): string[] {
  if (recorded !== undefined && reported?.revision === revision) return [];
  const byRecord = describeAgentChange(machine, recorded, desired);
  if (byRecord.length > 0 || reported === undefined) return byRecord;
  const wasLeftOut = reported.revision !== undefined || !reported.hasReported;
  return wasLeftOut ? describeAgentChange(machine, undefined, desired) : [];
}
