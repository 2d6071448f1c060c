const REPEAT_MILLISECONDS = 15_000;
const LONGEST_REPEAT_MILLISECONDS = 60_000;

/**
 * Reports a wait: "waiting for X, last saw Y, N s left". Prints when Y changes, and while it stays the same after 15
 * seconds, then 30, then every minute.
 */
export class WaitProgress {
  lastSeen = "nothing yet";
  private repeat: NodeJS.Timeout | undefined;
  private pause = REPEAT_MILLISECONDS;

  /** @param deadline in milliseconds of `Date.now()` */
  constructor(
    private readonly what: string,
    private readonly deadline: number,
    private readonly progress: ((line: string) => void) | undefined,
  ) {
    this.repeatLater();
  }

  /** Records a condition as text and reports it when it is new. */
  saw(condition: string): void {
    if (condition === this.lastSeen) return;
    this.lastSeen = condition;
    this.pause = REPEAT_MILLISECONDS;
    this.say();
    this.repeatLater();
  }

  close(): void {
    clearTimeout(this.repeat);
  }

  private repeatLater(): void {
    if (!this.progress) return;
    clearTimeout(this.repeat);
    this.repeat = setTimeout(() => {
      this.say();
      this.pause = Math.min(this.pause * 2, LONGEST_REPEAT_MILLISECONDS);
      this.repeatLater();
    }, this.pause);
    this.repeat.unref();
  }

  private say(): void {
    const left = Math.max(0, Math.ceil((this.deadline - Date.now()) / 1000));
    this.progress?.(`waiting for ${this.what}, last saw ${this.lastSeen}, ${left} s left`);
  }
}
