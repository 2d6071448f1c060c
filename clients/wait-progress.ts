const REPEAT_MILLISECONDS = 15_000;

/**
 * Says what a wait waits for: "waiting for X, last saw Y, N s left", when what was last seen changes and
 * every 15 seconds in between.
 */
export class WaitProgress {
  lastSeen = "nothing yet";
  private readonly repeat: NodeJS.Timeout | undefined;
  private lastSaid = 0;

  /** @param deadline in milliseconds of `Date.now()` */
  constructor(
    private readonly what: string,
    private readonly deadline: number,
    private readonly progress: ((line: string) => void) | undefined,
  ) {
    if (!progress) return;
    this.lastSaid = Date.now();
    this.repeat = setInterval(() => this.say(), REPEAT_MILLISECONDS);
    this.repeat.unref();
  }

  /** Takes note of a condition, in words, and says so when it is a new one. */
  saw(condition: string): void {
    const isNew = condition !== this.lastSeen;
    this.lastSeen = condition;
    if (isNew || Date.now() - this.lastSaid >= REPEAT_MILLISECONDS) this.say();
  }

  close(): void {
    clearInterval(this.repeat);
  }

  private say(): void {
    this.lastSaid = Date.now();
    const left = Math.max(0, Math.ceil((this.deadline - this.lastSaid) / 1000));
    this.progress?.(`waiting for ${this.what}, last saw ${this.lastSeen}, ${left} s left`);
  }
}
