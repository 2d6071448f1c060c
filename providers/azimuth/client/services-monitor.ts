import { follow, type FollowArgs } from "../../../lib/kubernetes/follow";
import { FetchedKubeconfig, KubernetesClient } from "../../../lib/kubernetes";
import { API, azimuthRefs } from "../plan/names";
import { planServices, type Reservation, servicesChange } from "../plan/services";
import { compareUserAccess, writeUserAccess } from "./cluster-record";
import {
  type ServiceObject,
  servicesIn,
  type ServicesRef,
  serviceSources,
  writeServices,
} from "./cluster-services";
import { messageOf } from "../../../lib/error-message";

/** Options for a monitor of a cluster's services. */
interface MonitorArgs {
  management: KubernetesClient;
  place: ServicesRef;
  signal: AbortSignal;
  /** called with a line for each write and each problem */
  say: (line: string) => void;
  userAgent?: string;
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
  /** the objects of each source whose list has arrived, by kind; nothing is written before all have */
  private readonly objects = new Map<string, ServiceObject[]>();
  private reservations: Reservation[] | undefined;
  private isDue = false;
  private isWriting = false;
  /** the latest write, which ends before the monitor does */
  private writing: Promise<void> | undefined;
  private hasEnded = false;
  /** the last write, whose events may still be pending */
  private written: { lines: ReadonlySet<string>; at: number } = { lines: new Set(), at: 0 };
  private target: { kubeconfig: FetchedKubeconfig; end: AbortController; done: Promise<void> } | undefined;

  /** the writes of the users' kubeconfig, which end before the monitor does */
  private access: Promise<unknown> | undefined;

  constructor(private readonly args: MonitorArgs) {}

  async run(): Promise<void> {
    const { place } = this.args;
    const { kubeconfig } = azimuthRefs(place);
    const sources = serviceSources(place).map((source) =>
      this.follow<ServiceObject>(source, (objects) => {
        const before = (this.objects.get(source.kind)?.length ?? 0) > 0;
        this.objects.set(source.kind, objects);
        if (source.kind === "Cluster") this.tookRecord(objects[0], before);
        this.touch();
      }),
    );
    const secret = this.follow<{ data?: { value?: string } }>(kubeconfig, ([found]) =>
      this.tookKubeconfig(FetchedKubeconfig.inSecret(kubeconfig, found)),
    );
    await Promise.all([...sources, secret]);
    await Promise.all([this.target?.done, this.access, this.writing]);
  }

  private follow<O>(
    what: Omit<FollowArgs<O>, "signal" | "onObjects" | "onTrouble">,
    onObjects: (objects: O[]) => void,
  ): Promise<void> {
    const { management, signal, say } = this.args;
    const onTrouble = (words: string) => say(`${what.kind}: ${words}`);
    return follow<O>(management, { ...what, signal, onTrouble, onObjects });
  }

  /** @param before whether there was a record */
  private tookRecord(record: ServiceObject | undefined, before: boolean): void {
    const isEnding = record ? record.metadata?.deletionTimestamp !== undefined : before;
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
    if (this.args.place.hasRecord) this.access = Promise.all([this.access, this.giveAccess()]);
    const end = new AbortController();
    this.target = { kubeconfig, end, done: this.followTarget(kubeconfig, end.signal) };
  }

  /** Writes the users' kubeconfig as soon as Cluster API has written its own. */
  private async giveAccess(): Promise<void> {
    const { management, place: ref, say, signal } = this.args;
    try {
      const access = await compareUserAccess(management, ref);
      await writeUserAccess(management, ref, access);
      for (const line of [...access.lines, ...(access.problem ? [access.problem] : [])]) say(line);
    } catch (error) {
      if (!signal.aborted)
        say(`the users' kubeconfig can't be written: ${messageOf(error)}; pulumi up tries again`);
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
          authorizedPath: "/api",
          readsOnly: true,
          userAgent,
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
      if (!signal.aborted) say(`the cluster can't be followed: ${messageOf(error)}`);
    }
  }

  private isOnItsWay(lines: readonly string[]): boolean {
    const { lines: written, at } = this.written;
    return Date.now() - at < ECHO_MILLISECONDS && lines.every((line) => written.has(line));
  }

  /** Marks a change, which is compared and written if necessary. */
  private touch(): void {
    this.isDue = true;
    if (!this.isWriting) this.writing = this.writeWhileDue();
  }

  private async writeWhileDue(): Promise<void> {
    const { management, place: ref, signal, say } = this.args;
    const sources = serviceSources(ref);
    this.isWriting = true;
    try {
      while (this.isDue && !signal.aborted) {
        this.isDue = false;
        if (this.hasEnded || !sources.every(({ kind }) => this.objects.has(kind))) return;
        const seen = servicesIn(this.objects);
        const { reservations } = this;
        const plan = reservations && planServices(ref.cluster, reservations, seen.addons);
        const change = servicesChange(plan, seen);
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
      say(`what is to be written could not be: ${messageOf(error)}; it is tried again`);
      setTimeout(() => this.touch(), RETRY_MILLISECONDS).unref();
    } finally {
      this.isWriting = false;
      // changes since the last comparison
      if (this.isDue && !signal.aborted) setImmediate(() => this.touch());
    }
  }
}
