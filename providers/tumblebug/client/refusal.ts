import { printable, shortened } from "../../../lib/text/quote";
import type { RefusalCode } from "./errors";

const LONGEST_WORDS = 1000;

/**
 * Returns the message of an error response, on one line and printable. The message may be the JSON of another response
 * from CB-Spider, which is then parsed too.
 */
export function remoteWords(text: string, depth = 3): string {
  const words = text.trim();
  const parsed = parseObject(words);
  const { message } = parsed ?? {};
  if (depth > 0 && typeof message === "string" && message.trim() !== "")
    return remoteWords(message, depth - 1);
  return shortened(oneLine(words), LONGEST_WORDS) || "nothing";
}

/** Returns a remote text on one line, safe for a terminal. */
export function oneLine(text: string): string {
  return printable(text.replace(/\s+/gu, " ").trim());
}

interface Asked {
  readonly method: string;
  /** Path below the server's address. */
  readonly path: string;
}

/** A code, the pattern of its messages, and the requests that it applies to; all requests if absent. */
interface Rule {
  readonly code: RefusalCode;
  readonly words: RegExp;
  readonly asked?: (asked: Asked) => boolean;
}

const isDeletion = ({ method }: Asked) => method === "DELETE";
const isControl = ({ path }: Asked) => /^\/ns\/[^/]+\/control\//.test(path);
/** Creation of an object; "not found" then means an object that it requires. */
const isCreation = (asked: Asked) =>
  asked.method === "POST" && asked.path.startsWith("/ns") && !isPart(asked);
/** Change of a security group's rules or a load balancer's members. */
const isPart = ({ path }: Asked) =>
  /\/securityGroup\/[^/]+\/rules$/.test(path) || /\/nlb\/[^/]+\/\w+$/.test(path);

/**
 * Rules for the code of an error response; the first match applies. Both generations use status 500, and `infra` also
 * 400, for existing objects, missing objects and failures, so the message decides. The patterns are from recorded
 * responses (test/fixtures/tumblebug) and from the server's source.
 */
const RULES: readonly Rule[] = [
  {
    code: "DeletionPending",
    words:
      /deletion of .* (unconfirmed|is already in progress)|deletion unconfirmed|still exists on the CSP|previous deletion of|deletion in progress|pending\/unconfirmed deletion/i,
  },
  {
    code: "AlreadyExists",
    words: /already exists|duplicate key value violates unique constraint/i,
    asked: isCreation,
  },
  { code: "AlreadyMember", words: /NLB already has this VM/i, asked: isPart },
  { code: "NotMember", words: /NLB does not have this VM/i, asked: isPart },
  {
    code: "NotAllowedNow",
    words:
      /is not allowed|not allowed for|not Terminated\/Undefined\/Failed|not a deletable status|not yet confirmed terminated|termination is in progress|try (again|later)|please retry|retry shortly|temporarily blocked/i,
  },
  {
    code: "InUse",
    words:
      /not empty|in use|associated with|associatedObject|has (been )?associated|still referenced by|currently referenced by|Dependency|has \d+ subnet|being used/i,
    asked: isDeletion,
  },
  // Matches the infrastructure only: a control request may also report VMs that the cloud no longer has.
  { code: "NotFound", words: /^The (mcis|infra) \S+ does not exist/i, asked: isControl },
  {
    code: "NotFound",
    words:
      /does not exist|doesn't exist|failed to find|cannot find|can't find|not found|no such|no node found/i,
    asked: (asked) => !isCreation(asked) && !isControl(asked),
  },
];

const SPIDER_DOWN =
  /an error occurred while requesting to CB-Spider|connection refused|no such host|dial tcp|i\/o timeout/i;
const BAD_NAMESPACE = /Not valid namespace|The first character of name must be a lowercase letter/i;

/** Paths that relay CB-Spider's responses, which may not be JSON. */
const RELAYED = /^\/(lookup\w+|connConfig|region|provider)(\/|$)/;

/** Returns the code of an error response. @param text the whole body */
export function refusalCode(asked: Asked, status: number, text: string): RefusalCode {
  const words = remoteWords(text);
  if (status === 401 || status === 403) return "Unauthorized";
  if (status === 429) return "RateLimited";
  if (SPIDER_DOWN.test(words)) return "SpiderDown";
  if (BAD_NAMESPACE.test(words)) return "NamespaceNotFound";
  if (status === 502 || status === 503 || status === 504) return "Unavailable";
  if (status === 404 && words === "Not Found") return "NoSuchRoute";
  if (status === 404 && RELAYED.test(asked.path) && parseObject(text.trim()) === undefined)
    return "SpiderDown";
  const rule = RULES.find((one) => one.words.test(words) && (one.asked?.(asked) ?? true));
  if (rule) return rule.code;
  if (status === 409) return isDeletion(asked) ? "DeletionPending" : "AlreadyExists";
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
