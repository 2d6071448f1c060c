/** How long a server's description counts as it was read: the preview and the update of a run follow one another. */
const MILLISECONDS = 10 * 60_000;

/** Long answers that stay the same within a run, by the address of the server: preview and update share one reading. */
export class Described<Value> {
  private readonly known = new Map<string, { value: Value; until: number }>();

  /** @param now milliseconds */
  constructor(private readonly now = () => performance.now()) {}

  /** Returns the answer of a server. One without a description is asked again the next time. */
  async of(address: string, read: () => Promise<Value | undefined>): Promise<Value | undefined> {
    const known = this.known.get(address);
    if (known !== undefined && this.now() < known.until) return known.value;
    const value = await read();
    if (value === undefined) this.known.delete(address);
    else this.known.set(address, { value, until: this.now() + MILLISECONDS });
    return value;
  }
}
