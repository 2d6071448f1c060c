import { setTimeout as pause } from "node:timers/promises";

/** A clock for rate limits. */
export interface Clock {
  /** Returns the time in milliseconds. */
  now(): number;
  /** @throws the signal's reason */
  pause(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

const systemClock: Clock = {
  now: () => performance.now(),
  pause: (milliseconds, signal) => pause(milliseconds, undefined, signal ? { signal } : {}),
};

/** A rate limit: `perSecond` requests, and up to `burst` at once after a pause. Further requests wait in order. */
export class TokenBucket {
  private tokens: number;
  private counted: number;

  constructor(
    private readonly perSecond: number,
    private readonly burst: number,
    private readonly clock: Clock = systemClock,
  ) {
    this.tokens = burst;
    this.counted = clock.now();
  }

  /** Waits until a request is allowed. @throws the signal's reason */
  async take(signal?: AbortSignal): Promise<void> {
    const now = this.clock.now();
    this.tokens = Math.min(this.burst, this.tokens + ((now - this.counted) / 1000) * this.perSecond);
    this.counted = now;
    this.tokens -= 1;
    if (this.tokens >= 0) return;
    try {
      await this.clock.pause((-this.tokens / this.perSecond) * 1000, signal);
    } catch (error) {
      this.tokens += 1;
      throw error;
    }
  }
}

/** The rate limits of one server. */
export interface ServerLimits {
  /** Limit of all requests. */
  readonly overall: TokenBucket;
  /** Additional limit of reading infrastructures. */
  readonly infrastructureReads: TokenBucket;
}

export function newLimits(clock: Clock = systemClock): ServerLimits {
  return { overall: new TokenBucket(20, 10, clock), infrastructureReads: new TokenBucket(2, 1, clock) };
}

const shared = new Map<string, ServerLimits>();

/** Returns the limits of a server, which all clients in this process share, because the server counts them together. */
export function sharedLimits(address: string): ServerLimits {
  const known = shared.get(address) ?? newLimits();
  shared.set(address, known);
  return known;
}
