import type { HttpResponse } from "../../../lib/http-client";
import { retryAfterSeconds } from "../../../lib/retry-after";
import { redact } from "../../../lib/text/redaction";

/** The next step for each category of errors. */
const NEXT = {
  CloudConfiguration: "fix clouds.yaml or the OS_… variables, then run the same again",
  CloudUnreachable: "check that the API answers from here, then run the same `up` again",
  AuthenticationRefused:
    "check the credentials in clouds.yaml or the environment; application credentials may have expired",
  NotAllowed: "ask for a role that allows this, or use other credentials",
  NotFound: "run `pulumi refresh`, so that the state knows what is gone, then `up`",
  Conflict: "run the same `up` again when the cloud has finished what it is doing",
  QuotaExceeded: "ask for more quota, or take fewer or smaller machines, then run the same `up` again",
  NoValidHost:
    "choose another flavor or zone, or anti-affinity `soft`; the cloud has no host for this one now",
  Refused: "fix the cause, then run the same `up` again",
};

type ErrorCode = keyof typeof NEXT;

const CODES: Readonly<Record<number, ErrorCode>> = {
  401: "AuthenticationRefused",
  403: "NotAllowed",
  404: "NotFound",
  409: "Conflict",
};

abstract class CloudError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
  ) {
    super(message);
    this.name = new.target.name;
  }

  get next(): string {
    return NEXT[this.code];
  }
}

/** The configuration of the cloud connection is missing or wrong. */
export class CloudConfigurationError extends CloudError {
  constructor(message: string) {
    super("CloudConfiguration", message);
  }
}

/** The cloud did not answer within the deadline. */
export class CloudUnreachable extends CloudError {
  constructor(what: string, lastSeen: string, seconds: number) {
    super("CloudUnreachable", `${what} got no answer within ${seconds} s; last seen: ${redact(lastSeen)}`);
  }
}

/** The cloud answered with an error status. */
export class CloudRefusal extends CloudError {
  readonly status: number;
  /** For how long the cloud asks to wait before the next request. */
  readonly retryAfterSeconds: number;

  constructor(what: string, reply: HttpResponse) {
    const words = redact(remoteWords(reply));
    super(codeOf(reply.status, words), `${what}: the cloud answered ${reply.status}: ${words}`);
    this.status = reply.status;
    this.retryAfterSeconds = retryAfterSeconds(reply);
  }
}

function codeOf(status: number, words: string): ErrorCode {
  if (/quota/i.test(words)) return "QuotaExceeded";
  if (/no valid host/i.test(words)) return "NoValidHost";
  return CODES[status] ?? "Refused";
}

/** Returns the message of an error response. Each service has another JSON structure. */
export function remoteWords({ body, text }: Pick<HttpResponse, "body" | "text">): string {
  const parts: unknown[] = Object.values(Object(body) as object);
  for (const value of [body, ...parts]) {
    const { message, faultstring, detail } = Object(value) as Record<string, unknown>;
    for (const words of [message, faultstring, detail])
      if (typeof words === "string" && words !== "") return words;
  }
  return text.slice(0, 300).trim() || "nothing";
}
