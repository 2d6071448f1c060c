import { OUT_OF_SPACE_ADVICE, saysOutOfSpace } from "../known-causes";

/** An error response of the API server. */
export class KubernetesError extends Error {
  override readonly name = "KubernetesError";

  /**
   * @param status HTTP status
   * @param reason the API's reason, such as "NotFound" or "TooManyRequests"
   * @param remote the API server's message
   * @param path method and path of the call
   * @param causes the causes in the response, such as the budgets that block an eviction
   * @param causeReasons the causes as the API names them, such as "NamespaceTerminating"
   * @param advice what to do; default: by the status
   * @param retryAfterSeconds how long the API server asks to wait before the request is repeated
   */
  constructor(
    readonly status: number,
    readonly reason: string,
    readonly remote: string,
    readonly path: string,
    readonly causes: string[] = [],
    readonly causeReasons: string[] = [],
    readonly retryAfterSeconds?: number,
    advice?: string,
  ) {
    const next = advice ?? nextStep({ status, reason, remote, causes });
    super(`${path}: ${status} ${reason}: ${remote}${next ? `. ${next}` : ""}`);
    this.next = next;
  }

  /** what to do, where the status determines it */
  readonly next?: string;
}

function nextStep(
  error: Pick<KubernetesError, "status" | "reason" | "remote" | "causes">,
): string | undefined {
  const { status, reason, remote, causes } = error;
  if (saysOutOfSpace(remote)) return OUT_OF_SPACE_ADVICE;
  if (status === 401) return "The kubeconfig's credentials are not accepted: export it again";
  // a policy names its reason as a cause, and no right of the user helps against it
  if (status === 403 && causes.length === 0)
    return "Give the kubeconfig's user this right, or use one that has it";
  if (status === 409 && reason === "Conflict") {
    return "Another writer changed or owns these fields: find out which, then run the same command again";
  }
  return undefined;
}

/** etcd's own words for an object that will never fit. */
const TOO_LARGE = /etcdserver: request is too large/i;
const MAY_PASS = /etcdserver|leader changed|context deadline|try again|shutting down|request timed out/i;
/** Reasons for which the API server asks to repeat a request. */
const ASKS_TO_REPEAT = ["TooManyRequests", "ServerTimeout", "Timeout", "ServiceUnavailable"];

/** Returns whether an answer is about a moment of the API server or of etcd, so that the same request may succeed soon. */
export function mayPass({
  status,
  reason,
  remote,
}: Pick<KubernetesError, "status" | "reason" | "remote">): boolean {
  if (saysOutOfSpace(remote) || TOO_LARGE.test(remote)) return false;
  if ([429, 503, 504].includes(status)) return true;
  return status === 500 && (ASKS_TO_REPEAT.includes(reason) || MAY_PASS.test(remote));
}

/** The cluster does not serve a kind: its definition is not installed, or not in this version. */
export class KindNotServed extends Error {
  override readonly name = "KindNotServed";

  constructor(
    readonly apiVersion: string,
    readonly kind: string,
    /** versions of the same group that serve it, as far as known */
    servedIn: readonly string[] = [],
  ) {
    const others = servedIn.length === 0 ? "" : `, only in ${servedIn.join(", ")}`;
    super(`the cluster has no kind ${kind} in ${apiVersion}${others}`);
  }
}

/** No API server of the kubeconfig responded within the deadline, or none can be trusted. */
export class KubernetesUnreachable extends Error {
  override readonly name = "KubernetesUnreachable";
  /** true when a call may have had its effect although its response was lost */
  readonly outcomeUnknown: boolean;
  /** true when a longer wait can't help */
  readonly isFinal: boolean;

  /** @param advice what to do; default: by `how` */
  constructor(
    readonly servers: string[],
    readonly lastSeen: string,
    readonly seconds: number,
    how?: "outcome unknown" | "final" | "refused",
    advice = "The cluster may have been created again: use its own kubeconfig.",
  ) {
    super(
      how === "outcome unknown"
        ? `${lastSeen}; the answer was lost, whether the call had its effect is unknown. Run the same again.`
        : how === "final"
          ? `no Kubernetes API of ${servers.join(", ")} can be trusted: ${lastSeen}. ${advice}`
          : how === "refused"
            ? `the Kubernetes API refused for ${seconds} s (${servers.join(", ")}), last: ${lastSeen}. ` +
              `Run the same again when it and etcd have recovered.`
            : `no Kubernetes API answered within ${seconds} s (${servers.join(", ")}), last: ${lastSeen}. ` +
              `Check that a control plane runs and that its port is reachable from here.`,
    );
    this.outcomeUnknown = how === "outcome unknown";
    this.isFinal = how === "outcome unknown" || how === "final";
  }

  /** Returns the error for a call of which an earlier attempt may have had its effect. */
  withUnknownOutcome(call: string): KubernetesUnreachable {
    const { servers, lastSeen, seconds } = this;
    return new KubernetesUnreachable(servers, `${call}: ${lastSeen}`, seconds, "outcome unknown");
  }
}

/** Thrown inside `lib/kubernetes` when there was no response. `sent` says whether the request was sent. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";

  constructor(
    message: string,
    readonly sent: boolean,
    /** the server's certificate can't be trusted; retries do not fix that */
    readonly untrusted = false,
    /** what to do, where more is known */
    readonly advice?: string,
  ) {
    super(message);
  }
}
