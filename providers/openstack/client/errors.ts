import type { HttpResponse } from "../../../lib/http-client";
import { redact } from "../../../lib/text/redaction";

/** The configuration of the cloud connection is missing or wrong. */
export class CloudConfigurationError extends Error {
  override readonly name = "CloudConfigurationError";
  readonly code = "CloudConfiguration";
  readonly next = "fix clouds.yaml or the OS_… variables, then run the same again";
}

/** The cloud did not answer within the deadline. */
export class CloudUnreachable extends Error {
  override readonly name = "CloudUnreachable";
  readonly code = "CloudUnreachable";
  readonly next = "check that the API answers from here, then run the same `up` again";

  constructor(what: string, lastSeen: string, seconds: number) {
    super(`${what} got no answer within ${seconds} s; last seen: ${redact(lastSeen)}`);
  }
}

/** The next step for each category of an error response. */
const NEXT = {
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

const CODES: Readonly<Record<number, keyof typeof NEXT>> = {
  401: "AuthenticationRefused",
  403: "NotAllowed",
  404: "NotFound",
  409: "Conflict",
};

/** The cloud answered with an error status. */
export class CloudRefusal extends Error {
  override readonly name = "CloudRefusal";
  readonly status: number;
  readonly code: keyof typeof NEXT;

  constructor(what: string, reply: HttpResponse) {
    const words = redact(remoteWords(reply));
    super(`${what}: the cloud answered ${reply.status}: ${words}`);
    this.status = reply.status;
    this.code = codeOf(reply.status, words);
  }

  get next(): string {
    return NEXT[this.code];
  }
}

function codeOf(status: number, words: string): keyof typeof NEXT {
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
