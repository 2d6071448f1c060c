import type { Addon, Reservation } from "../plan/services";
import { ADDON_CLUSTER_LABEL, API, kubeconfigSecretName, platformName } from "../plan/names";
import { follow, type FollowArgs } from "../../../lib/kubernetes/follow";
import { FetchedKubeconfig, KubernetesClient } from "../../../lib/kubernetes";
import { compareUserAccess, linesOf, writeUserAccess } from "./cluster-record";
import { compareServices, type ServicesRef, writeServices } from "./cluster-services";

/** Options for a monitor of a cluster's services. */
interface MonitorArgs {
  management: KubernetesClient;
  place: ServicesRef;
  signal: AbortSignal;
  /** called with a line for each write and each problem */
  say: (line: string) => void;
  userAgent?: string;
}

interface Metadata {
  deletionTimestamp?: string;
}

interface ClusterRecord {
  metadata?: Metadata;
  status?: { services?: Record<string, Record<string, unknown>> };
}

interface Platform {
  spec?: { zenithServices?: Record<string, Record<string, unknown>> };
}

/** The pause after a failure; the next attempt compares everything again. */
const RETRY_MILLISECONDS = 500;
const CONNECT_SECONDS = 3600;
/** How long the events of this process's own write may take; a difference that remains after that is written again. */
const ECHO_MILLISECONDS = 500;

/**
 * Keeps a cluster's services in sync: follows the Reservations in the cluster, and writes the record's status, the
 * addons' annotations and the Platform on the management cluster when they differ. Ends with the signal. Keeps no
 * state: it compares everything after each start.
 *
 * @throws KubernetesError 401 or 403
 */
export async function monitorServices(args: MonitorArgs): Promise<void> {
  await new ServicesMonitor(args).run();
}

class ServicesMonitor {
  private readonly addons = new Map<string, Addon[]>();
  private record: ClusterRecord | undefined;
  private platform: Platform | undefined;
  private reservations: Reservation[] | undefined;
  /** kinds whose list has arrived; nothing is written before all have */
  private readonly seen = new Set<string>();
  private isDue = false;
  private isWriting = false;
  private hasEnded = false;
  /** the last write, whose events may still be pending */
  private written: { lines: ReadonlySet<string>; at: number } = { lines: new Set(), at: 0 };
  private target: { kubeconfig: FetchedKubeconfig; end: AbortController; done: Promise<void> } | undefined;

  constructor(private readonly args: MonitorArgs) {}

  async run(): Promise<void> {
    const { place } = this.args;
    const { namespace, cluster } = place;
    const labelSelector = `${ADDON_CLUSTER_LABEL}=${cluster}`;
    const addons = ["HelmRelease", "Manifests"].map((kind) =>
      this.follow<Addon>({ apiVersion: API.addons, kind, namespace, labelSelector }, (objects) =>
        this.addons.set(
          kind,
          objects.map((addon) => ({ ...addon, kind })),
        ),
      ),
    );
    const record = this.follow<ClusterRecord>(
      { apiVersion: API.azimuth, kind: "Cluster", namespace, name: cluster },
      ([found]) => this.tookRecord(found),
    );
    const platform = this.follow<Platform>(
      { apiVersion: API.identity, kind: "Platform", namespace, name: platformName(cluster) },
      ([found]) => (this.platform = found),
    );
    const ref = { apiVersion: "v1", kind: "Secret", namespace, name: kubeconfigSecretName(cluster) };
    const secret = this.follow<{ data?: { value?: string } }>(ref, ([found]) =>
      this.tookKubeconfig(FetchedKubeconfig.inSecret(ref, found)),
    );
    await Promise.all([...addons, ...(place.hasRecord ? [record] : []), platform, secret]);
    await this.target?.done;
  }

  private follow<O>(
    what: Omit<FollowArgs<O>, "signal" | "onObjects" | "onTrouble">,
    take: (objects: O[]) => void,
  ): Promise<void> {
    const { management, signal, say } = this.args;
    return follow<O>(management, {
      ...what,
      signal,
      onTrouble: (words) => say(`${what.kind}: ${words}`),
      onObjects: (objects) => {
        take(objects);
        this.seen.add(what.kind);
        this.touch();
      },
    });
  }

  private tookRecord(record: ClusterRecord | undefined): void {
    const isEnding =
      record === undefined ? this.record !== undefined : record.metadata?.deletionTimestamp !== undefined;
    this.record = record;
    if (!isEnding || this.hasEnded) return;
    this.hasEnded = true;
    const { namespace, cluster } = this.args.place;
    this.args.say(
      `Cluster ${namespace}/${cluster} is being deleted, as the end of a lease does it: run pulumi destroy, which takes the cluster down in order`,
    );
  }

  /** Reconnects when the kubeconfig changes. */
  private tookKubeconfig(kubeconfig: FetchedKubeconfig | undefined): void {
    if (kubeconfig?.text === this.target?.kubeconfig.text) return;
    this.target?.end.abort();
    this.target = undefined;
    if (kubeconfig === undefined) return;
    if (this.args.place.hasRecord) void this.giveAccess();
    const end = new AbortController();
    this.target = { kubeconfig, end, done: this.followTarget(kubeconfig, end.signal) };
  }

  /** Writes the users' kubeconfig as soon as Cluster API has written its own. */
  private async giveAccess(): Promise<void> {
    const { management, place: ref, say, signal } = this.args;
    try {
      const access = await compareUserAccess(management, ref);
      await writeUserAccess(management, ref, access);
      for (const line of linesOf(access)) say(line);
    } catch (error) {
      if (!signal.aborted)
        say(`the users' kubeconfig can't be written: ${wordsOf(error)}; pulumi up tries again`);
    }
  }

  private async followTarget(kubeconfig: FetchedKubeconfig, end: AbortSignal): Promise<void> {
    const { say, userAgent, place: ref } = this.args;
    const signal = AbortSignal.any([this.args.signal, end]);
    try {
      const target = await KubernetesClient.connect(
        { kubeconfig },
        {
          seconds: CONNECT_SECONDS,
          signal,
          authorisedPath: "/api",
          readsOnly: true,
          ...(userAgent === undefined ? {} : { userAgent }),
        },
      );
      say(`following the services of ${ref.namespace}/${ref.cluster}`);
      try {
        await follow<Reservation>(target, {
          apiVersion: API.zenith,
          kind: "Reservation",
          signal,
          onObjects: (objects) => {
            this.reservations = objects;
            this.touch();
          },
        });
      } finally {
        target.close();
      }
    } catch (error) {
      if (!signal.aborted) say(`the cluster can't be followed: ${wordsOf(error)}`);
    }
  }

  private isOnItsWay(lines: readonly string[]): boolean {
    const { lines: written, at } = this.written;
    return Date.now() - at < ECHO_MILLISECONDS && lines.every((line) => written.has(line));
  }

  /** Marks a change, which is compared and written if necessary. */
  private touch(): void {
    this.isDue = true;
    if (!this.isWriting) void this.writeWhileDue();
  }

  private async writeWhileDue(): Promise<void> {
    const { management, place: ref, signal, say } = this.args;
    const kinds = ["HelmRelease", "Manifests", "Platform", ...(ref.hasRecord ? ["Cluster"] : [])];
    this.isWriting = true;
    try {
      while (this.isDue && !signal.aborted) {
        this.isDue = false;
        if (this.reservations === undefined || !kinds.every((kind) => this.seen.has(kind))) return;
        if (this.hasEnded) return;
        const change = compareServices(ref, this.reservations, {
          addons: [...this.addons.values()].flat(),
          ...(this.record ? { status: this.record.status?.services ?? {} } : {}),
          ...(this.platform ? { platform: this.platform.spec?.zenithServices ?? {} } : {}),
        });
        if (change.lines.length === 0) continue;
        if (this.isOnItsWay(change.lines)) {
          setTimeout(() => this.touch(), ECHO_MILLISECONDS).unref();
          continue;
        }
        await writeServices(management, ref, change);
        this.written = { lines: new Set(change.lines), at: Date.now() };
        for (const line of change.lines) say(line);
      }
    } catch (error) {
      if (signal.aborted) return;
      say(`what is to be written could not be: ${wordsOf(error)}; it is tried again`);
      setTimeout(() => this.touch(), RETRY_MILLISECONDS).unref();
    } finally {
      this.isWriting = false;
      // changes since the last comparison
      if (this.isDue && !signal.aborted && this.reservations !== undefined) setImmediate(() => this.touch());
    }
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
