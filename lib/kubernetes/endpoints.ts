import { setTimeout as pause } from "node:timers/promises";
import { anySignal } from "../abort";
import { type Deadline, type Probed, Transient, waitFor, WaitTimeout } from "../wait";
import { KubernetesError, KubernetesUnreachable, mayPass, NoAnswer } from "./errors";
import type { Call, Transport } from "./transport";

export type ReachOptions = Omit<Deadline, "what">;

const CHOICE_SECONDS = 3;
const HEALTH_MILLISECONDS = 5000;
/** How long the first API server alone is asked by those who only read. */
const HEAD_START_MILLISECONDS = 200;
// An API server that has just started refuses requests for some seconds until its authorizer has loaded.
const REFUSAL_GRACE_MILLISECONDS = 30_000;

/**
 * Which calls are repeated when an API server fails or refuses for a moment: all, none that may have had its effect, or
 * none at all.
 */
export type Repeat = "always" | "unless accepted" | "never";

/** The API servers of one cluster. Uses a healthy one and switches when it fails. */
export class Endpoints {
  private current: Transport | undefined;

  /**
   * @param health.authorizedPath a path that the credentials can read, to check that authorization works
   * @param health.readsOnly whether a server that serves this path counts as healthy without being ready
   */
  constructor(
    readonly transports: Transport[],
    private readonly health: { authorizedPath: string; readsOnly: boolean },
  ) {}

  get servers(): string[] {
    return this.transports.map(({ endpoint }) => endpoint.server);
  }

  /** Returns the API server in use, the first healthy one. Waits until one is healthy. */
  async choose(options: ReachOptions): Promise<Transport> {
    if (this.current) return this.current;
    let refusedSince: number | undefined;
    try {
      return await waitFor<Transport>({
        what: "a healthy Kubernetes API",
        ...options,
        longestPauseMilliseconds: 2000,
        probe: async (signal) => {
          const found = await this.firstHealthy(signal);
          if ("healthy" in found) {
            this.current = found.healthy;
            return { done: found.healthy };
          }
          const refusal = found.faults.find(isRefusal);
          refusedSince = refusal && (refusedSince ?? Date.now());
          if (refusal && Date.now() - refusedSince! > REFUSAL_GRACE_MILLISECONDS) throw refusal;
          const isHopeless = found.faults.every((fault) => fault instanceof NoAnswer && fault.untrusted);
          if (isHopeless) throw found.faults[0] as NoAnswer;
          return { pending: found.faults.map(({ message }) => message).join("; ") };
        },
      });
    } catch (error) {
      throw this.explain(error, options.seconds);
    }
  }

  /** Records that an API server failed; the next choice checks all of them again. */
  failed(transport: Transport): void {
    if (this.current === transport) this.current = undefined;
  }

  /**
   * Calls the API. A call is repeated as `repeat` allows, on another server when one fails, until the deadline.
   *
   * @throws KubernetesError, KubernetesUnreachable, the signal's reason
   */
  async call(call: Call, repeat: Repeat, options: ReachOptions): Promise<unknown> {
    const refusal: { last?: KubernetesError } = {};
    try {
      return await waitFor({
        what: `an answer to ${call.method} ${call.path}`,
        ...options,
        longestPauseMilliseconds: 2000,
        probe: (signal) => this.callOnce(call, repeat, { ...options, signal }, refusal),
      });
    } catch (error) {
      throw this.explain(error, options.seconds, refusal.last);
    }
  }

  close(): void {
    for (const transport of this.transports) transport.close();
  }

  private async callOnce(
    call: Call,
    repeat: Repeat,
    options: ReachOptions & { signal: AbortSignal },
    refusal: { last?: KubernetesError },
  ): Promise<Probed<unknown>> {
    refusal.last = undefined;
    const transport = await this.chooseSoon(options);
    try {
      return { done: await transport.call({ ...call, signal: options.signal }) };
    } catch (error) {
      if (error instanceof NoAnswer) {
        this.failed(transport);
        if (error.sent && repeat !== "always") {
          const words = `${call.method} ${call.path}: ${error.message}`;
          throw new KubernetesUnreachable(this.servers, words, options.seconds, "outcome unknown");
        }
        if (error.sent) call.onUnsure?.();
        throw new Transient(error.message);
      }
      if (!(error instanceof KubernetesError) || repeat === "never" || !mayPass(error)) throw error;
      // an API server limits requests before it carries them out
      const wasRefused = error.status === 429;
      if (!wasRefused && repeat !== "always") throw error;
      if (!wasRefused) call.onUnsure?.();
      refusal.last = error;
      throw new Transient(error.message, error.retryAfterSeconds);
    }
  }

  private async firstHealthy(signal: AbortSignal): Promise<{ healthy: Transport } | { faults: Error[] }> {
    const milliseconds = HEALTH_MILLISECONDS;
    const isFound = new AbortController();
    try {
      const checks = this.transports.map(async (transport, index) => {
        if (!this.health.readsOnly)
          await transport.call({ method: "GET", path: "/readyz", milliseconds, signal });
        else if (index > 0)
          await pause(HEAD_START_MILLISECONDS, undefined, { signal: anySignal(signal, isFound.signal) });
        await transport.call({
          method: "GET",
          path: this.health.authorizedPath,
          milliseconds,
          signal,
          query: { limit: 1 },
        });
        return transport;
      });
      return { healthy: await Promise.any(checks) };
    } catch (error) {
      return { faults: (error as AggregateError).errors as Error[] };
    } finally {
      isFound.abort();
    }
  }

  /** Waits briefly for a healthy server, so that the call reports that wait's last condition as its own. */
  private async chooseSoon(options: ReachOptions): Promise<Transport> {
    try {
      return await this.choose({ ...options, seconds: Math.min(options.seconds, CHOICE_SECONDS) });
    } catch (error) {
      if (error instanceof KubernetesUnreachable && !error.isFinal) throw new Transient(error.lastSeen);
      throw error;
    }
  }

  /** @param refusal the last answer, when it was one */
  private explain(error: unknown, seconds: number, refusal?: KubernetesError): unknown {
    const how = refusal && "refused";
    if (error instanceof WaitTimeout)
      return new KubernetesUnreachable(this.servers, error.lastSeen, seconds, how);
    if (error instanceof NoAnswer)
      return new KubernetesUnreachable(this.servers, error.message, seconds, "final", error.advice);
    return error;
  }
}

function isRefusal(fault: Error): fault is KubernetesError {
  return fault instanceof KubernetesError && (fault.status === 401 || fault.status === 403);
}
