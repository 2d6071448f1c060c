import type { RefusalCode } from "./errors";

/** What an error answer says, for people; a message may be the JSON of another answer, which CB-Spider gave. */
export function remoteWords(text: string, depth = 3): string {
  const words = text.trim();
  const parsed = parseObject(words);
  if (parsed === undefined || depth === 0) return words.slice(0, 1000) || "nothing";
  const { message } = parsed;
  return typeof message === "string" && message.trim() !== ""
    ? remoteWords(message, depth - 1)
    : words.slice(0, 1000);
}

const SPIDER_DOWN =
  /an error occurred while requesting to CB-Spider|connection refused|no such host|dial tcp|i\/o timeout/i;
const BAD_NAMESPACE = /Not valid namespace|The first character of name must be a lowercase letter/i;
const PENDING =
  /deletion of .* (unconfirmed|is already in progress)|still exists on the CSP|previous deletion of|deletion in progress/i;
const IN_USE =
  /not empty|in use|associated with|associatedObject|has (been )?associated|Dependency|has \d+ subnet|being used/i;
const NOT_NOW =
  /is not allowed|not allowed for|not Terminated\/Undefined\/Failed|not yet confirmed terminated|try again|retry shortly/i;
const MISSING = /does not exist|doesn't exist|failed to find|cannot find|can't find|not found|no such/i;

/** Which paths relay CB-Spider's own answers, which need not be JSON. */
const RELAYED = /^\/(lookup\w+|connConfig|region|provider)(\/|$)/;

/**
 * What a Tumblebug answer with an error status means: its statuses alone don't say, since 500 is used for what exists, for
 * what is missing and for true failures.
 */
export function refusalCode(
  asked: { method: string; path: string },
  status: number,
  text: string,
): RefusalCode {
  const words = remoteWords(text);
  if (status === 401 || status === 403) return "Unauthorized";
  if (status === 429) return "RateLimited";
  if (SPIDER_DOWN.test(words)) return "SpiderDown";
  if (BAD_NAMESPACE.test(words)) return "NamespaceNotFound";
  if (status === 502 || status === 503 || status === 504) return "Unavailable";
  if (status === 404 && RELAYED.test(asked.path) && parseObject(text.trim()) === undefined)
    return "SpiderDown";
  if (PENDING.test(words)) return "DeletionPending";
  if (/already exists/i.test(words)) return "AlreadyExists";
  if (NOT_NOW.test(words)) return "NotAllowedNow";
  if (IN_USE.test(words)) return "InUse";
  if (MISSING.test(words)) return "NotFound";
  if (status === 409) return asked.method === "DELETE" ? "DeletionPending" : "AlreadyExists";
  return status === 404 ? "NotFound" : "Refused";
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
