import { changesSoFar } from "../../../../lib/pulumi/changes";
import type { KubernetesClient } from "../../../../lib/kubernetes";

/** How long resources share what one of them has read: a preview's checks follow one another in seconds. */
const SHARED_MILLISECONDS = 10_000;

/** A cluster for a reader that may share answers with others. */
export interface ClusterReading extends Pick<KubernetesClient, "listNodes"> {
  readonly kubernetes: KubernetesClient;
}

interface Shared {
  readonly client: Promise<KubernetesClient>;
  readonly askers: Set<string>;
  /** The changes of this process when it began; nothing is shared while one runs. */
  readonly changes: number | undefined;
  users: number;
  nodes?: ReturnType<KubernetesClient["listNodes"]>;
}

/**
 * Reads clusters so that the resources of a run share one connection and one list of the Nodes. No resource gets the same
 * answer twice, and none gets one from before a change of this process, so each run reads again, and an update after its own
 * changes.
 */
export class SharedReadings {
  private readonly current = new Map<string, Shared>();

  /**
   * @param connect to a cluster by its kubeconfig
   * @param changes returns another number after each change; undefined while one runs
   */
  constructor(
    private readonly connect: (kubeconfig: string) => Promise<KubernetesClient>,
    private readonly changes = changesSoFar,
  ) {}

  /** @param asker the resource that reads, and for what if it reads several times */
  async read<T>(
    kubeconfig: string,
    asker: string,
    work: (cluster: ClusterReading) => Promise<T>,
  ): Promise<T> {
    const shared = this.usable(kubeconfig, asker) ?? this.begin(kubeconfig);
    shared.askers.add(asker);
    shared.users += 1;
    try {
      const kubernetes = await shared.client;
      return await work({ kubernetes, listNodes: () => (shared.nodes ??= kubernetes.listNodes()) });
    } catch (error) {
      this.forget(kubeconfig, shared);
      throw error;
    } finally {
      shared.users -= 1;
      this.closeUnused(kubeconfig, shared);
    }
  }

  private usable(kubeconfig: string, asker: string): Shared | undefined {
    const shared = this.current.get(kubeconfig);
    return shared?.changes === this.changes() && !shared?.askers.has(asker) ? shared : undefined;
  }

  private begin(kubeconfig: string): Shared {
    const shared: Shared = {
      client: this.connect(kubeconfig),
      askers: new Set(),
      changes: this.changes(),
      users: 0,
    };
    const earlier = this.current.get(kubeconfig);
    if (earlier) this.forget(kubeconfig, earlier);
    if (shared.changes === undefined) return shared;
    this.current.set(kubeconfig, shared);
    setTimeout(() => this.forget(kubeconfig, shared), SHARED_MILLISECONDS).unref();
    return shared;
  }

  private forget(kubeconfig: string, shared: Shared): void {
    if (this.current.get(kubeconfig) !== shared) return;
    this.current.delete(kubeconfig);
    this.closeUnused(kubeconfig, shared);
  }

  private closeUnused(kubeconfig: string, shared: Shared): void {
    if (shared.users > 0 || this.current.get(kubeconfig) === shared) return;
    void shared.client.then(
      (client) => client.close(),
      () => undefined,
    );
  }
}
