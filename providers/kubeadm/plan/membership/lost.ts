import { isKnownList } from "../../../../lib/unknown";

/**
 * Returns what state records of lost machines: names that the configuration no longer lists stay until another change.
 * They are not machines of the cluster any more, so taking them off the list is not a change.
 *
 * @param olds undefined in a new stack
 * @param news may be unknown in a program's preview, or missing
 */
export function recordedLost<Names extends readonly string[] | undefined>(
  olds: Names | undefined,
  news: Names,
): Names {
  if (olds === undefined || (news !== undefined && !isKnownList(news))) return news;
  return (news ?? []).every((name) => olds.includes(name)) ? olds : news;
}
