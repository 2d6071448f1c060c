/** The API server answered with an error. */
export class KubernetesError extends Error {
  override readonly name = "KubernetesError";

  /**
   * @param status of HTTP
   * @param reason the API's own word, such as "NotFound" or "TooManyRequests"
   * @param remote the API server's words
   * @param path method and path of the call
   * @param causes the API's own list, such as the budgets that hold an eviction
   */
  constructor(
    readonly status: number,
    readonly reason: string,
    readonly remote: string,
    readonly path: string,
    readonly causes: string[] = [],
  ) {
    const next = nextStep(status, reason);
    super(`${path}: ${status} ${reason}: ${remote}${next ? `. ${next}` : ""}`);
    this.next = next;
  }

  /** what to do, where the status alone tells it */
  readonly next?: string;
}

function nextStep(status: number, reason: string): string | undefined {
  if (status === 401) return "The kubeconfig's credentials are not accepted: export it anew";
  if (status === 403) return "Give the kubeconfig's user this right, or use one that has it";
  if (status === 409 && reason === "Conflict") {
    return "Somebody else changed or owns these fields: look who, then run the same again";
  }
  return undefined;
}

/** The cluster does not serve a kind: its definition is not installed, or not in this version. */
export class KindNotServed extends Error {
  override readonly name = "KindNotServed";

  constructor(
    readonly apiVersion: string,
    readonly kind: string,
    /** versions of the same group in which it is served, as far as somebody asked */
    servedIn: readonly string[] = [],
  ) {
    const others = servedIn.length === 0 ? "" : `, only in ${servedIn.join(", ")}`;
    super(`the cluster has no kind ${kind} in ${apiVersion}${others}`);
  }
}

/** No API server of the kubeconfig gave an answer within the deadline, or none that can be trusted. */
export class KubernetesUnreachable extends Error {
  override readonly name = "KubernetesUnreachable";
  /** true when a call may have had its effect although its answer was lost */
  readonly outcomeUnknown: boolean;
  /** true when waiting longer can't help */
  readonly isFinal: boolean;

  constructor(
    readonly servers: string[],
    readonly lastSeen: string,
    readonly seconds: number,
    how?: "outcome unknown" | "final",
  ) {
    super(
      how === "outcome unknown"
        ? `${lastSeen}; the answer was lost, whether the call had its effect is unknown. Run the same again.`
        : how === "final"
          ? `no Kubernetes API of ${servers.join(", ")} can be trusted: ${lastSeen}. ` +
            `The cluster may have been made anew: use its own kubeconfig.`
          : `no Kubernetes API answered within ${seconds} s (${servers.join(", ")}), last: ${lastSeen}. ` +
            `Check that a control plane runs and that its port is reachable from here.`,
    );
    this.outcomeUnknown = how === "outcome unknown";
    this.isFinal = how !== undefined;
  }
}

/** Thrown inside `lib/kubernetes` when there was no answer. `sent` says whether the request had left. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";

  constructor(
    message: string,
    readonly sent: boolean,
    /** the server's certificate is not to be trusted; no retry mends that */
    readonly untrusted = false,
  ) {
    super(message);
  }
}
