import { setTimeout as pause } from "node:timers/promises";
import type { KubernetesClient } from "../../lib/kubernetes";

/** A kind whose objects a controller watches. */
interface WatchedKind {
  readonly apiVersion: string;
  readonly kind: string;
}

// the client restarts its watches by itself; this is the final deadline, in days
const WATCH_SECONDS = 10 * 24 * 3600;
const RETRY_MILLISECONDS = 500;

/**
 * A control loop: it watches all objects of some kinds and calls `reconcile` with all of them after each change. Only
 * one run is active at a time; a change during a run starts another, and failed runs are retried.
 */
export class Controller {
  private readonly known = new Map<string, unknown[]>();
  private readonly stopped = new AbortController();
  private isChanged = true;
  private wake: () => void = () => undefined;

  /**
   * @param reconcile gets the objects of each kind and returns after how many milliseconds to run again
   * @param say logs the failure of a run
   */
  constructor(
    private readonly kubernetes: KubernetesClient,
    private readonly kinds: readonly WatchedKind[],
    private readonly reconcile: (objects: ReadonlyMap<string, unknown[]>) => Promise<number | undefined>,
    private readonly say: (line: string) => void,
  ) {}

  /** Watches and reconciles until `stop` is called. */
  async run(): Promise<void> {
    await Promise.all([...this.kinds.map((kind) => this.watch(kind)), this.loop()]);
  }

  stop(): void {
    this.stopped.abort();
    this.wake();
  }

  private async watch({ apiVersion, kind }: WatchedKind): Promise<void> {
    const { signal } = this.stopped;
    while (!signal.aborted) {
      try {
        await this.kubernetes.watchUntil<never, unknown>({
          what: `changes of ${kind} objects`,
          apiVersion,
          kind,
          seconds: WATCH_SECONDS,
          signal,
          decide: (objects) => {
            this.known.set(kind, objects);
            this.look();
            return { pending: "it continues" };
          },
        });
      } catch (error) {
        if (signal.aborted) return;
        this.say(`${kind}: ${(error as Error).message}`);
        await pause(RETRY_MILLISECONDS, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  private look(): void {
    this.isChanged = true;
    this.wake();
  }

  private async loop(): Promise<void> {
    const { signal } = this.stopped;
    while (!signal.aborted) {
      if (!this.isChanged || this.known.size < this.kinds.length) {
        await new Promise<void>((resolve) => (this.wake = resolve));
        continue;
      }
      this.isChanged = false;
      let again: number | undefined;
      try {
        again = await this.reconcile(this.known);
      } catch (error) {
        this.say((error as Error).message);
        again = RETRY_MILLISECONDS;
      }
      if (again !== undefined) setTimeout(() => this.look(), again).unref();
    }
  }
}
