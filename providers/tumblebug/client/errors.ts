import { parseJson } from "../../../lib/json";
import { printable, shortened } from "../../../lib/text/quote";

/** The category of an error response, and the remediation. */
const NEXT = {
  Unauthorized: "check the user name and password of the Tumblebug server",
  NamespaceNotFound: "create the namespace, or configure one that exists",
  NotFound: "run `pulumi refresh` to update the state, then run `up` again",
  Redirected: "write the address that the server redirects to, if you trust it; foresail follows no redirect",
  NoSuchRoute: "check the address and the generation of the Tumblebug server: it does not have this route",
  AlreadyMember: "run `up` again: it reads the members of the load balancer first",
  NotMember: "run `up` again: it reads the members of the load balancer first",
  AlreadyExists: "choose another name, or let this stack adopt the object",
  InUse: "delete the objects that use it, then run the command again",
  NotAllowedNow: "run the command again when the server has finished its current operation",
  DeletionPending: "run the command again in a few minutes: the cloud has not confirmed the deletion",
  SpiderDown: "start the CB-Spider that the Tumblebug server uses, then run the command again",
  RateLimited: "run the command again when fewer clients use the server",
  Unavailable: "check the log of the Tumblebug server, then run the command again",
  Refused: "fix the cause, then run the command again",
} as const;

export type RefusalCode = keyof typeof NEXT;

/** An error of the client, with a code and the remediation. */
abstract class ClientError extends Error {
  constructor(
    message: string,
    readonly next: string,
    readonly code: string = new.target.name,
  ) {
    super(message);
    this.name = new.target.name;
  }
}

/** Tumblebug answered with an error status. `remote` is its message. */
export class TumblebugRefusal extends ClientError {
  declare readonly code: RefusalCode;

  constructor(
    readonly what: string,
    readonly status: number,
    readonly remote: string,
    code: RefusalCode,
    /** The whole message, of which `remote` is the beginning. */
    readonly words = remote,
  ) {
    super(`${what}: Tumblebug answered ${status}: ${remote}`, NEXT[code], code);
  }
}

export function isRefusal(error: unknown, ...codes: readonly RefusalCode[]): error is TumblebugRefusal {
  return error instanceof TumblebugRefusal && codes.includes(error.code);
}

/** The server did not answer within the deadline. @param lastSeen the last error message */
export class TumblebugUnreachable extends ClientError {
  constructor(what: string, lastSeen: string, seconds: number) {
    super(
      `${what} got no response within ${seconds} s; last seen: ${lastSeen}`,
      "check that this machine can reach the Tumblebug server, then run the command again",
    );
  }
}

/** The response to a change was lost, and it is unknown whether the change was carried out. */
export class ReplyLost extends ClientError {
  constructor(what: string, reason: string) {
    super(
      `${what}: the response was lost (${reason}), so it is unknown whether the change was made`,
      "run the command again: it reads the current objects first",
    );
  }
}

/** A response that does not match Tumblebug's API. */
export class UnexpectedAnswer extends ClientError {
  constructor(what: string, detail: string) {
    super(
      `${what}: the response does not match Tumblebug's API: ${detail}`,
      "check the address and the generation of the Tumblebug server",
    );
  }
}

const LONGEST_WORDS = 1000;

/**
 * Returns the message of an error response, on one line and printable. The message may be the JSON of another response
 * from CB-Spider, which is then parsed too.
 */
export function remoteWords(text: string): string {
  const words = innerMessage(text);
  return shortened(oneLine(words.slice(0, 2 * LONGEST_WORDS)), LONGEST_WORDS) || "nothing";
}

/** Returns the innermost message of an error response, at its full length. */
function innerMessage(text: string, depth = 3): string {
  const words = text.trim();
  const message = parseObject(words)?.["message"];
  return depth > 0 && typeof message === "string" && message.trim() !== ""
    ? innerMessage(message, depth - 1)
    : words;
}

/**
 * Returns whether the words of a refusal say that the cloud does not have an object or a VM, by its name there:
 * "[aws:vm:ns1-k1-cp-1] does not exist!", "VM 'tb1' does not exist in connection 'aws'".
 */
export function saysAbsent({ words }: TumblebugRefusal, cloudName: string): boolean {
  const name = cloudName.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?<![\\w-])${name}(?![\\w-])['"\\]\\s]{0,4}does not exist`, "i").test(words);
}

/** Returns a remote text on one line, safe for a terminal. */
export function oneLine(text: string): string {
  return printable(text.replace(/\s+/gu, " ").trim());
}

/** A request; the path is the one below the server's address. */
interface Asked {
  readonly method: string;
  readonly path: string;
}

const isDeletion = ({ method }: Asked) => method === "DELETE";
const isControl = ({ path }: Asked) => /^\/ns\/[^/]+\/control\//.test(path);
/** Creation of an object; "not found" then means an object that it requires. */
const isCreation = (asked: Asked) =>
  asked.method === "POST" && asked.path.startsWith("/ns") && !isPart(asked);
/** Change of a security group's rules or a load balancer's members. */
const isPart = ({ path }: Asked) =>
  /\/securityGroup\/[^/]+\/rules$/.test(path) || /\/nlb\/[^/]+\/\w+$/.test(path);
const isAny = () => true;
const isOther = (asked: Asked) => !isCreation(asked) && !isControl(asked);

/**
 * Rules for the code of an error response, each for some requests; the first match applies. Both generations use status
 * 500, and `infra` also 400, for existing objects, missing objects and failures, so the message decides. The patterns
 * are from recorded responses (test/fixtures/tumblebug) and from the server's source.
 */
const RULES: readonly (readonly [RefusalCode, (asked: Asked) => boolean, RegExp])[] = [
  [
    "DeletionPending",
    isAny,
    /deletion of .* (unconfirmed|is already in progress)|deletion unconfirmed|still exists on the CSP|previous deletion of|deletion in progress|pending\/unconfirmed deletion/i,
  ],
  ["AlreadyExists", isCreation, /already exists|duplicate key value violates unique constraint/i],
  ["AlreadyMember", isPart, /NLB already has this VM/i],
  ["NotMember", isPart, /NLB does not have this VM/i],
  [
    "NotAllowedNow",
    isAny,
    /is not allowed|not allowed for|not Terminated\/Undefined\/Failed|not a deletable status|not yet confirmed terminated|termination is in progress|try (again|later)|please retry|retry shortly|temporarily blocked/i,
  ],
  [
    "InUse",
    isDeletion,
    /not empty|in use|associated with|associatedObject|has (been )?associated|still referenced by|currently referenced by|Dependency|has \d+ subnet|being used/i,
  ],
  // Matches the infrastructure only: a control request may also report VMs that the cloud no longer has.
  ["NotFound", isControl, /^The (mcis|infra) \S+ does not exist/i],
  [
    "NotFound",
    isOther,
    /does not exist|doesn't exist|failed to find|cannot find|can't find|not found|no such|no node found/i,
  ],
];

const SPIDER_DOWN =
  /an error occurred while requesting to CB-Spider|connection refused|no such host|dial tcp|i\/o timeout/i;
const BAD_NAMESPACE = /Not valid namespace|The first character of name must be a lowercase letter/i;

/** Paths that relay CB-Spider's responses, which may not be JSON. */
const RELAYED = /^\/(lookup\w+|connConfig|region|provider)(\/|$)/;

/** Returns the code of an error response. @param text the whole body */
export function refusalCode(asked: Asked, status: number, text: string): RefusalCode {
  const words = remoteWords(text);
  if (status < 400) return "Redirected";
  if (status === 401 || status === 403) return "Unauthorized";
  if (status === 429) return "RateLimited";
  if (SPIDER_DOWN.test(words)) return "SpiderDown";
  if (BAD_NAMESPACE.test(words)) return "NamespaceNotFound";
  if (status === 502 || status === 503 || status === 504) return "Unavailable";
  if (status === 404 && words === "Not Found") return "NoSuchRoute";
  if (status === 404 && RELAYED.test(asked.path) && parseObject(text.trim()) === undefined)
    return "SpiderDown";
  const rule = RULES.find(([, applies, pattern]) => applies(asked) && pattern.test(words));
  if (rule) return rule[0];
  if (status === 409) return isDeletion(asked) ? "DeletionPending" : "AlreadyExists";
  return status === 404 ? "NotFound" : "Refused";
}

function parseObject(text: string): Record<string, unknown> | undefined {
  const value = parseJson(text);
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
}
