import { setTimeout as pause } from "node:timers/promises";
import { assertNotInterrupted, despiteInterrupt } from "../process/interruption";
import { waitFor, WaitTimeout } from "../wait";
import type { KubernetesClient } from "./client";
import { KubernetesError } from "./errors";
import {
  completeHolder,
  describeHolder,
  holderAnnotations,
  holderIdentity,
  isCertainlyDead,
  isFromBefore,
  type LeaseHolder,
  type NamedHolder,
  PAUSE_REQUESTED,
  readHolder,
} from "./lease-holder";
import { CLUSTER_LEASE as REF } from "./own-objects";
import type { LeaseObject } from "./objects";

/** Another process is changing the cluster. */
export class LeaseHeld extends Error {
  override readonly name = "LeaseHeld";

  constructor(readonly holder: LeaseHolder) {
    super(
      `${describeHolder(holder)} is changing this cluster. ` +
        `Run the same again when that has ended; a holder that died loses the cluster after ${TIMES.durationSeconds} s.`,
    );
  }
}

/** This process no longer holds the Lease: it must not change anything more. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

/** A held Lease. */
export interface LeaseHandle {
  /** aborts with LeaseLost when another process took it, or when no API server has responded for too long */
  readonly signal: AbortSignal;
  /** waits until this process certainly holds it: at once, unless its renewal is overdue. @throws LeaseLost */
  confirmed(): Promise<void>;
  /** releases it; the last user in this process frees the Lease. Never fails, and may be called twice */
  release(): Promise<void>;
}

interface AcquireOptions {
  /** how long to wait for the holder to finish or expire */
  seconds: number;
  signal?: AbortSignal;
  progress?: (line: string) => void;
  /** waits until the deadline for a live holder, too; by default a live holder is an error at once */
  waitForLiving?: boolean;
  /** how long a Lease is valid without a renewal */
  durationSeconds?: number;
  renewSeconds?: number;
  /** how long the API may be unreachable before a holder gives up */
  silenceSeconds?: number;
}

const TIMES = { durationSeconds: 30, renewSeconds: 10, silenceSeconds: 600 };
const RENEW_MILLISECONDS = 4000;
const RETRY_MILLISECONDS = 500;
const FREE_MILLISECONDS = 5000;

// Several handlers of one `up` run in one process and share the Lease.
const shared = new Map<string, { acquired: Promise<HeldLease>; users: number }>();

/**
 * Takes the Lease kube-system/foresail, which lets only one process change a cluster at a time, and renews it until the
 * release. `named` is the holder; without a process number it is this process. A free or expired Lease is taken, and so
 * is the Lease of a dead process on this host, without waiting for its expiry.
 *
 * @throws LeaseHeld with the holder, KubernetesError, KubernetesUnreachable
 */
export async function acquireLease(
  client: KubernetesClient,
  named: NamedHolder,
  options: AcquireOptions,
): Promise<LeaseHandle> {
  const holder = completeHolder(named);
  const key = `${[...client.servers].sort().join(" ")} ${holderIdentity(holder)}`;
  const own = shared.get(key) ?? { acquired: take(client, holder, options), users: 0 };
  shared.set(key, own);
  own.users += 1;
  const forget = () => shared.get(key) === own && shared.delete(key);
  const leave = () => {
    own.users -= 1;
    if (own.users === 0) forget();
    return own.users === 0;
  };
  const held = await own.acquired.catch((error: unknown) => {
    leave();
    throw error;
  });
  held.signal.addEventListener("abort", forget, { once: true });
  let isReleased = false;
  return {
    signal: held.signal,
    confirmed: () => held.confirmed(),
    release: async () => {
      if (isReleased) return;
      isReleased = true;
      if (leave()) await held.free();
    },
  };
}

async function take(
  client: KubernetesClient,
  holder: LeaseHolder,
  options: AcquireOptions,
): Promise<HeldLease> {
  let other: LeaseHolder | undefined;
  let seen: { version: string; at: number } | undefined;
  try {
    return await waitFor<HeldLease>({
      what: "the right to change the cluster (Lease kube-system/foresail)",
      ...options,
      firstPauseMilliseconds: 500,
      longestPauseMilliseconds: 2000,
      probe: async () => {
        const lease = await client.get<LeaseObject>(REF);
        other = readHolder(lease);
        const isOurs = other && holderIdentity(other) === holderIdentity(holder);
        const version = `${lease?.spec?.holderIdentity} ${lease?.spec?.renewTime}`;
        if (other && !isOurs && !isCertainlyDead(other)) {
          // Measures expiry with the local clock since the last renewal seen, because the clocks of two hosts differ.
          const isRenewed = seen !== undefined && seen.version !== version;
          if (isRenewed && !options.waitForLiving) throw new LeaseHeld(other);
          if (!seen || isRenewed) seen = { version, at: Date.now() };
          const seconds = lease?.spec?.leaseDurationSeconds ?? TIMES.durationSeconds;
          if (Date.now() - seen.at <= seconds * 1000)
            return { pending: `it held by ${describeHolder(other)}` };
        }
        const held = new HeldLease(client, holder, options);
        if (await held.write(lease)) return { done: held.keep() };
        return { pending: "another process taking it" };
      },
    });
  } catch (error) {
    if (error instanceof WaitTimeout && other) throw new LeaseHeld(other);
    throw error;
  }
}

class HeldLease {
  private readonly lost = new AbortController();
  private readonly stopped = new AbortController();
  private readonly times: typeof TIMES;
  private version: string | undefined;
  private renewing: Promise<void> = Promise.resolve();
  private renewal: Promise<void> | undefined;
  private renewedAt = Date.now();

  constructor(
    private readonly client: KubernetesClient,
    private readonly holder: LeaseHolder,
    options: AcquireOptions,
  ) {
    this.times = { ...TIMES, ...options };
  }

  get signal(): AbortSignal {
    return this.lost.signal;
  }

  /** Writes this holder over the state that was read. @returns false when another writer was faster */
  async write(before: LeaseObject | undefined): Promise<boolean> {
    const now = microTime();
    const spec = {
      holderIdentity: holderIdentity(this.holder),
      leaseDurationSeconds: this.times.durationSeconds,
      acquireTime: now,
      renewTime: now,
      leaseTransitions: (before?.spec?.leaseTransitions ?? 0) + (before ? 1 : 0),
    };
    const { resourceVersion, annotations: old } = before?.metadata ?? {};
    const annotations = holderAnnotations(this.holder);
    if (isFromBefore(old?.[PAUSE_REQUESTED], this.holder.startedAt)) annotations[PAUSE_REQUESTED] = null;
    const { name, namespace } = REF;
    const metadata = { name, namespace, annotations: annotations as Record<string, string> };
    return this.remember(() =>
      before
        ? this.client.mergePatch<LeaseObject>(REF, { metadata: { annotations, resourceVersion }, spec })
        : this.client.create<LeaseObject>({ ...REF, metadata, spec }),
    );
  }

  /** Starts the renewals. */
  keep(): this {
    this.renewing = this.renewUntilStopped();
    return this;
  }

  /** Stops renewing and frees the Lease; when that fails, it expires. */
  async free(): Promise<void> {
    this.stopped.abort();
    // not aborted: it may have been written, and the Lease's version would then be unknown here
    await Promise.race([this.renewing, pause(FREE_MILLISECONDS, undefined, { ref: false })]);
    if (this.lost.signal.aborted) return;
    const metadata = { annotations: holderAnnotations(undefined), resourceVersion: this.version };
    const free = { metadata, spec: { holderIdentity: null, renewTime: microTime(), acquireTime: null } };
    const signal = AbortSignal.timeout(FREE_MILLISECONDS);
    await despiteInterrupt(() => this.client.mergePatch(REF, free, { signal })).catch(() => undefined);
  }

  /**
   * Resolves when this process certainly holds the Lease: at once while it is fresh, otherwise after its next renewal.
   *
   * @throws LeaseLost
   */
  async confirmed(): Promise<void> {
    while (!this.isFresh) {
      this.lost.signal.throwIfAborted();
      this.stopped.signal.throwIfAborted();
      assertNotInterrupted();
      await this.renew();
      // without a pause, refusals of an API server that has just started would cause a busy loop
      if (!this.isFresh)
        await pause(RETRY_MILLISECONDS, undefined, { signal: this.lost.signal }).catch(() => undefined);
    }
  }

  /** Whether no other process can consider the Lease expired yet. */
  private get isFresh(): boolean {
    return !this.lost.signal.aborted && Date.now() < this.renewedAt + this.times.durationSeconds * 800;
  }

  private async renewUntilStopped(): Promise<void> {
    while (!this.stopped.signal.aborted && !this.lost.signal.aborted) {
      await pause(this.times.renewSeconds * 1000, undefined, {
        signal: this.stopped.signal,
        ref: false,
      }).catch(() => undefined);
      if (this.stopped.signal.aborted) return;
      await this.renew();
    }
  }

  /** Renews once; concurrent callers share the attempt. */
  private renew(): Promise<void> {
    this.renewal ??= this.renewOnce().finally(() => (this.renewal = undefined));
    return this.renewal;
  }

  private async renewOnce(): Promise<void> {
    try {
      const patch = { spec: { renewTime: microTime() }, metadata: { resourceVersion: this.version } };
      // an API server without etcd does not respond, and another one may
      const options = { milliseconds: RENEW_MILLISECONDS };
      if (await this.remember(() => this.client.mergePatch<LeaseObject>(REF, patch, options))) return;
      const lease = await this.client.get<LeaseObject>(REF);
      const now = readHolder(lease);
      if (now && holderIdentity(now) === holderIdentity(this.holder)) {
        // an annotation was written, such as a pause request, or a response was lost
        this.version = lease?.metadata?.resourceVersion;
        return await this.renewOnce();
      }
      this.lose(now ? `${describeHolder(now)} has taken it` : "it was taken away");
    } catch (error) {
      // an API that does not respond here may not respond to anyone: a restarting control plane is silent for minutes
      if (Date.now() >= this.renewedAt + this.times.silenceSeconds * 1000)
        this.lose(`it could not be renewed: ${(error as Error).message}`);
    }
  }

  private lose(why: string): void {
    this.lost.abort(
      new LeaseLost(`the Lease kube-system/foresail is lost (${why}); nothing more is changed`),
    );
  }

  private async remember(write: () => Promise<LeaseObject>): Promise<boolean> {
    const startedAt = Date.now();
    try {
      this.version = (await write()).metadata?.resourceVersion;
      this.renewedAt = startedAt;
      return true;
    } catch (error) {
      if (error instanceof KubernetesError && (error.status === 409 || error.status === 404)) return false;
      throw error;
    }
  }
}

/** Returns the current time as the API's MicroTime. */
function microTime(): string {
  return new Date().toISOString().replace("Z", "000Z");
}
