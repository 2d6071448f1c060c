import { DEFAULT_ROLLOUT } from "../cluster/defaults";
import type { ReadFacts } from "./machine-facts";

/** A change of a control plane in whose middle an earlier run ended. */
export interface UnfinishedChange {
  readonly machine: string;
  /** How long its API server may still be away. */
  readonly seconds: number;
}

/**
 * Returns the unfinished change that may still take longest; undefined when none explains that no API server answers.
 *
 * @param facts of the control planes, by name
 * @param limit of a change of one node, in seconds
 */
export function unfinishedChange(
  facts: ReadonlyMap<string, ReadFacts>,
  limit: number = DEFAULT_ROLLOUT.nodeTimeoutSeconds,
): UnfinishedChange | undefined {
  const changes = [...facts].flatMap(([machine, said]) => {
    const since = "unread" in said ? undefined : said.changingSeconds;
    const seconds = since === undefined ? 0 : limit - since;
    return seconds > 0 ? [{ machine, seconds }] : [];
  });
  return changes.sort((one, other) => other.seconds - one.seconds)[0];
}
