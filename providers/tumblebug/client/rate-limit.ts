import { setTimeout as pause } from "node:timers/promises";

/** Time, as far as a limit needs it. */
export interface Clock {
  /** milliseconds */
  now(): number;
  /** @throws the signal's reason */
  pause(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  pause: (milliseconds, signal) => pause(milliseconds, undefined, signal ? { signal } : {}),
};

/** Lets through so many a second, and `burst` at once after a rest; the others wait in the order in which they came. */
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

  /** Waits for its turn. @throws the signal's reason */
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

/** What one server allows its clients. */
export interface ServerLimits {
  /** of every request */
  readonly overall: TokenBucket;
  /** of reading an infrastructure, besides */
  readonly infrastructureReads: TokenBucket;
}

export function newLimits(clock: Clock = systemClock): ServerLimits {
  return { overall: new TokenBucket(20, 10, clock), infrastructureReads: new TokenBucket(2, 1, clock) };
}

const shared = new Map<string, ServerLimits>();

/** The limits of a server, the same for all clients of this process: it counts them together. */
export function sharedLimits(address: string): ServerLimits {
  const known = shared.get(address) ?? newLimits();
  shared.set(address, known);
  return known;
}
