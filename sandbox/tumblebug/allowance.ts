/** The request rate limit of a server: faster requests are rejected. */
export class Allowance {
  private left: number;
  private counted = performance.now();

  constructor(private readonly perSecond: number) {
    this.left = perSecond;
  }

  /** Returns whether one more is allowed now. */
  take(): boolean {
    const now = performance.now();
    this.left = Math.min(this.perSecond, this.left + ((now - this.counted) / 1000) * this.perSecond);
    this.counted = now;
    if (this.left < 1) return false;
    this.left -= 1;
    return true;
  }
}
