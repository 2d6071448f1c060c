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
   */
  constructor(
    readonly status: number,
    readonly reason: string,
    readonly remote: string,
    readonly path: string,
    readonly causes: string[] = [],
    readonly causeReasons: string[] = [],
  ) {
    const next = nextStep(status, reason);
    super(`${path}: ${status} ${reason}: ${remote}${next ? `. ${next}` : ""}`);
    this.next = next;
  }

  /** what to do, where the status determines it */
  readonly next?: string;
}

function nextStep(status: number, reason: string): string | undefined {
  if (status === 401) return "The kubeconfig's credentials are not accepted: export it again";
  if (status === 403) return "Give the kubeconfig's user this right, or use one that has it";
  if (status === 409 && reason === "Conflict") {
    return "Another writer changed or owns these fields: find out which, then run the same command again";
  }
  return undefined;
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
            `The cluster may have been created again: use its own kubeconfig.`
          : `no Kubernetes API answered within ${seconds} s (${servers.join(", ")}), last: ${lastSeen}. ` +
            `Check that a control plane runs and that its port is reachable from here.`,
    );
    this.outcomeUnknown = how === "outcome unknown";
    this.isFinal = how !== undefined;
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
  ) {
    super(message);
  }
}
