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
  NamespaceNotFound: "create the namespace, or configure one that exists",
  NotFound: "run `pulumi refresh` to update the state, then run `up` again",
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
};

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
  ) {
    super(`${what}: Tumblebug answered ${status}: ${remote}`, NEXT[code], code);
  }
}

/** Returns whether an error is a TumblebugRefusal with one of these codes. */
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
