import { type OpenOptions, SshConnection } from "./connection";
import type { SshTarget } from "./target";

interface Held {
  opening: Promise<SshConnection>;
  opened?: SshConnection;
}

/** Keeps one shared connection per machine; reconnects at the next request after a loss. */
export class SshPool {
  private readonly held = new Map<string, Held>();
  private isClosed = false;

  constructor(private readonly options: OpenOptions) {}

  /** @throws what `SshConnection.open` throws; the next request dials again */
  async connection(target: SshTarget): Promise<SshConnection> {
    if (this.isClosed) throw new Error(`no connection to ${target.name}: the pool was closed`);
    const key = `${target.user}@${target.address}:${target.port} ${target.hostKey} ${target.jumpHost?.address ?? ""}`;
    const known = this.held.get(key);
    if (known && !known.opened?.closed) return known.opening;
    const fresh: Held = { opening: SshConnection.open(target, this.options) };
    this.held.set(key, fresh);
    try {
      fresh.opened = await fresh.opening;
    } catch (error) {
      if (this.held.get(key) === fresh) this.held.delete(key);
      throw error;
    }
    return fresh.opened;
  }

  /** Closes all connections, including those that are still being opened. */
  close(): void {
    this.isClosed = true;
    for (const { opening } of this.held.values())
      opening.then((opened) => opened.close()).catch(() => undefined);
    this.held.clear();
  }
}
