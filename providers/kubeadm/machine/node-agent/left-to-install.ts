import type { NodeAgentsStep } from "../../plan/steps";
import { agentChange, type DesiredAgent } from "./desired-agent";

/** Status that a machine's agent has reported on its Node. */
export interface ReportedAgent {
  /** Whether an agent has reported at all. */
  hasReported: boolean;
  /** Revision that the agent was installed with; absent from agents before 1.1.0. */
  revision?: string;
  /** Why its machine counts as out of reach, if it does. */
  outOfReach?: string;
}

/**
 * Returns what is left to do on one machine. The state alone does not show it, since a run that failed on some machines
 * leaves the same state as one that did not: the agent's own report takes precedence.
 *
 * @param recorded the desired agent in the state for this very machine, if any
 * @param reported what its Node reports; undefined when it has none or the cluster could not be read
 * @param revision `agentRevision(desired)`
 * @returns empty when nothing is left
 */
export function leftToInstall(
  machine: string,
  desired: DesiredAgent,
  revision: string,
  recorded: DesiredAgent | undefined,
  reported: ReportedAgent | undefined,
): NodeAgentsStep[] {
  if (recorded !== undefined && reported?.revision === revision) return [];
  const byRecord = agentChange(machine, recorded, desired);
  if (byRecord.length > 0 || reported === undefined) return byRecord;
  const wasLeftOut = reported.revision !== undefined || !reported.hasReported;
  return wasLeftOut ? agentChange(machine, undefined, desired) : [];
}
