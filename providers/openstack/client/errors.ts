/** The configuration of the cloud connection is missing or wrong. */
export class CloudConfigurationError extends Error {
  override readonly name = "CloudConfigurationError";
  readonly code = "CloudConfiguration";
  readonly next = "fix clouds.yaml or the OS_… variables, then run the same again";
}

/** The cloud did not answer within the deadline. `lastSeen` is the last error message. */
export class CloudUnreachable extends Error {
  override readonly name = "CloudUnreachable";
  readonly code = "CloudUnreachable";
  readonly next = "check that the API answers from here, then run the same `up` again";

  constructor(
    readonly what: string,
    readonly lastSeen: string,
    readonly seconds: number,
  ) {
    super(`${what} got no answer within ${seconds} s; last seen: ${lastSeen}`);
  }
}

/** The cloud answered with an error status. */
export class CloudRefusal extends Error {
  override readonly name: string = "CloudRefusal";

  constructor(
    readonly what: string,
    readonly status: number,
    readonly remote: string,
    readonly code: CloudRefusalCode,
  ) {
    super(`${what}: the cloud answered ${status}: ${remote}`);
  }

  get next(): string {
    return NEXT[this.code];
  }
}

/** Category of an error response. */
type CloudRefusalCode =
  | "AuthenticationRefused"
  | "NotAllowed"
  | "NotFound"
  | "Conflict"
  | "QuotaExceeded"
  | "NoValidHost"
  | "Refused";

const NEXT: Readonly<Record<CloudRefusalCode, string>> = {
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

/** Returns the category of an OpenStack service's error response. */
export function refusalCode(status: number, remote: string): CloudRefusalCode {
  if (/quota/i.test(remote)) return "QuotaExceeded";
  if (/no valid host/i.test(remote)) return "NoValidHost";
  if (status === 401) return "AuthenticationRefused";
  if (status === 403) return "NotAllowed";
  if (status === 404) return "NotFound";
  return status === 409 ? "Conflict" : "Refused";
}

/** Returns the message of an error response. Each service has another JSON structure. */
export function remoteWords(body: unknown, text: string): string {
  for (const value of [
    body,
    ...(typeof body === "object" && body !== null ? (Object.values(body) as unknown[]) : []),
  ]) {
    if (typeof value !== "object" || value === null) continue;
    const { message, faultstring, detail } = value as Record<string, unknown>;
    for (const words of [message, faultstring, detail])
      if (typeof words === "string" && words !== "") return words;
  }
  return text.slice(0, 300).trim() || "nothing";
}
