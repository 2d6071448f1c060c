/** Category of an error response. */
export type RefusalCode =
  | "Unauthorized"
  | "NamespaceNotFound"
  | "NotFound"
  | "NoSuchRoute"
  | "AlreadyExists"
  | "AlreadyMember"
  | "NotMember"
  | "InUse"
  | "NotAllowedNow"
  | "DeletionPending"
  | "SpiderDown"
  | "RateLimited"
  | "Unavailable"
  | "Refused";

const NEXT: Readonly<Record<RefusalCode, string>> = {
  Unauthorized: "check the user name and password of the Tumblebug server",
  NamespaceNotFound: "make the namespace, or name one that exists",
  NotFound: "run `pulumi refresh`, so that the state knows what is gone, then `up`",
  NoSuchRoute: "check the address and the generation of the Tumblebug server: it does not know this request",
  AlreadyMember: "run the same again: it reads first what the load balancer has",
  NotMember: "run the same again: it reads first what the load balancer has",
  AlreadyExists: "take another name, or let this stack adopt the object",
  InUse: "delete what uses it first, then run the same again",
  NotAllowedNow: "run the same again when the server has finished what it is doing",
  DeletionPending: "run the same again in a few minutes: the cloud has not confirmed the deletion",
  SpiderDown: "bring CB-Spider up behind the Tumblebug server, then run the same again",
  RateLimited: "run the same again when fewer clients use the server",
  Unavailable: "look at the Tumblebug server's log, then run the same again",
  Refused: "fix the cause, then run `up` again",
};

/** Tumblebug answered with an error status. `remote` is its message. */
export class TumblebugRefusal extends Error {
  override readonly name = "TumblebugRefusal";

  constructor(
    readonly what: string,
    readonly status: number,
    readonly remote: string,
    readonly code: RefusalCode,
  ) {
    super(`${what}: Tumblebug answered ${status}: ${remote}`);
  }

  get next(): string {
    return NEXT[this.code];
  }
}

/** The server did not answer within the deadline. `lastSeen` is the last error message. */
export class TumblebugUnreachable extends Error {
  override readonly name = "TumblebugUnreachable";
  readonly code = "TumblebugUnreachable";
  readonly next = "check that the Tumblebug server answers from here, then run the same again";

  constructor(
    readonly what: string,
    readonly lastSeen: string,
    readonly seconds: number,
  ) {
    super(`${what} got no answer within ${seconds} s; last seen: ${lastSeen}`);
  }
}

/** The response to a change was lost, and it is unknown whether the change was carried out. */
export class ReplyLost extends Error {
  override readonly name = "ReplyLost";
  readonly code = "ReplyLost";
  readonly next = "run the same again: it looks first what is there";

  constructor(
    readonly what: string,
    readonly reason: string,
  ) {
    super(`${what}: the answer was lost (${reason}), and what it was to do can't be seen`);
  }
}

/** A response that does not match Tumblebug's API. */
export class UnexpectedAnswer extends Error {
  override readonly name = "UnexpectedAnswer";
  readonly code = "UnexpectedAnswer";
  readonly next = "check the address and the generation of the Tumblebug server";

  constructor(
    readonly what: string,
    readonly detail: string,
  ) {
    super(`${what}: the answer is none that Tumblebug gives: ${detail}`);
  }
}
