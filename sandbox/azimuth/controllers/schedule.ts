/**
 * Simulates azimuth-schedule-operator (group scheduling.azimuth.stackhpc.com) on a cloud with Blazar. A Lease with an
 * end gets reserved flavors while it is Active; one without maps each flavor to itself. Created Leases are handled at
 * once, updated ones never: a timer checks each Lease, and only the timer notices a changed `endsAt`. At the grace
 * period before its end the owners are deleted in the foreground. A deleted Lease waits for the finalizers of others,
 * and takes its credentials' Secret with it.
 */
import { API } from "../../../providers/azimuth/plan/names";
import { Cloud, statusOf } from "../cloud";
import { holdBy, letGo, runController, type Seen, setStatus, type Context } from "./controller";

const FINALIZER = "scheduling.azimuth.stackhpc.com";
const DEFAULT_GRACE_SECONDS = 600;
/** How often a Lease with finalizers of others is checked; the real operator waits 15 s. */
const RETRY_MILLISECONDS = 250;
const CHECK_MILLISECONDS = 60_000;

interface LeaseSpec {
  cloudCredentialsSecretName: string;
  startsAt?: string | null;
  endsAt?: string | null;
  gracePeriod?: number | null;
  resources: { machines?: { sizeId: string; count: number }[] };
}
type Lease = Seen<LeaseSpec, { phase?: string }>;

/** What the operator remembers of a Lease. */
interface Memory {
  /** the revision of the faults at which it was handled; a restarted operator handles it again */
  handled?: number;
  generation?: number;
  /** when the timer runs next, in milliseconds since 1970 */
  due: number;
}

/**
 * @param checkMilliseconds how often the timer runs, and how long a Lease must be unchanged before; default: one
 * minute, as in the real operator
 */
export async function runSchedule(
  around: Context,
  checkMilliseconds: number = CHECK_MILLISECONDS,
): Promise<void> {
  const { client, faults } = around;
  const cloud = new Cloud();
  const memories = new Map<string, Memory>();

  const blazarName = ({ metadata: { namespace, name } }: Lease) => `${namespace}/az-${name}`;

  const end = async (lease: Lease): Promise<number | undefined> => {
    const { namespace, finalizers = [], uid } = lease.metadata;
    if (finalizers.some((finalizer) => finalizer !== FINALIZER)) return RETRY_MILLISECONDS;
    await setStatus(client, lease, { phase: "Deleting" });
    cloud.delete(blazarName(lease));
    const credentials = { apiVersion: "v1", kind: "Secret", name: lease.spec.cloudCredentialsSecretName };
    await client.delete({ ...credentials, namespace });
    // the status has changed since it was read
    const { apiVersion, kind } = lease;
    const live = await client.get<Lease>({ apiVersion, kind, namespace, name: lease.metadata.name });
    if (live) await letGo(client, { ...live, apiVersion, kind }, FINALIZER);
    memories.delete(uid);
    return undefined;
  };

  /** Without reservations a Lease is Active from its start, and each flavor maps to itself. */
  const writeUnreserved = async (lease: Lease): Promise<void> => {
    const { startsAt, resources } = lease.spec;
    if (startsAt && Date.parse(startsAt) > Date.now())
      return setStatus(client, lease, { phase: "Pending", errorMessage: null });
    const sizeMap = Object.fromEntries((resources.machines ?? []).map(({ sizeId }) => [sizeId, sizeId]));
    await setStatus(client, lease, {
      phase: "Active",
      errorMessage: null,
      sizeMap,
      sizeNameMap: cloud.namesOf(sizeMap),
    });
  };

  /** Returns Blazar's status of the Lease, or nothing if it does not know the Lease. */
  const writeReserved = async (lease: Lease): Promise<void> => {
    const reserved = cloud.find(blazarName(lease));
    if (reserved === undefined) return;
    const phase = statusOf(reserved, Date.now());
    const sizeMap = Object.fromEntries(reserved.flavors);
    const maps = phase === "Active" ? { sizeMap, sizeNameMap: cloud.namesOf(sizeMap) } : {};
    await setStatus(client, lease, { phase, errorMessage: null, ...maps });
  };

  /** Handles a Lease that was created, or that exists when the operator starts. */
  const handle = async (lease: Lease): Promise<void> => {
    const { startsAt, endsAt, resources } = lease.spec;
    if (!endsAt) return writeUnreserved(lease);
    const name = blazarName(lease);
    const isReserved = cloud.find(name) !== undefined;
    if (!isReserved && lease.status?.phase === "Pending")
      cloud.reserve(
        name,
        startsAt ? Date.parse(startsAt) : Date.now(),
        Date.parse(endsAt),
        (resources.machines ?? []).map(({ sizeId }) => sizeId),
      );
    await writeReserved(lease);
  };

  /** Handles a Lease on a timer tick. */
  const check = async (lease: Lease): Promise<void> => {
    const { endsAt, gracePeriod } = lease.spec;
    if (!endsAt) return writeUnreserved(lease);
    await writeReserved(lease);
    const threshold = Date.parse(endsAt) - (gracePeriod ?? DEFAULT_GRACE_SECONDS) * 1000;
    if (threshold >= Date.now()) return;
    for (const { apiVersion, kind, name, uid } of lease.metadata.ownerReferences ?? [])
      await client.delete(
        { apiVersion, kind, name, namespace: lease.metadata.namespace },
        { propagationPolicy: "Foreground", uid },
      );
  };

  const memoryOf = ({ metadata: { uid, generation } }: Lease): Memory => {
    const memory = memories.get(uid) ?? { due: 0 };
    memories.set(uid, memory);
    if (memory.generation !== generation) memory.due = Date.now() + checkMilliseconds;
    memory.generation = generation;
    return memory;
  };

  const reconcile = async (lease: Lease): Promise<number | undefined> => {
    if (lease.metadata.deletionTimestamp) return end(lease);
    if (!(await holdBy(client, lease, FINALIZER))) return undefined;
    const { failed, neverReady } = faults.of("Lease", lease.metadata);
    if (failed !== undefined)
      return void (await setStatus(client, lease, { phase: "Error", errorMessage: failed }));
    const phase = lease.status?.phase;
    // a cleared fault leaves nothing reserved either
    if (phase === undefined || (phase === "Error" && !cloud.find(blazarName(lease))) || neverReady)
      return void (await setStatus(client, lease, { phase: "Pending", errorMessage: null }));
    const memory = memoryOf(lease);
    if (memory.handled !== faults.revision) {
      await handle(lease);
      memory.handled = faults.revision;
    } else if (memory.due <= Date.now()) {
      await check(lease);
      memory.due = Date.now() + checkMilliseconds;
    }
    return Math.max(memory.due - Date.now(), 1);
  };

  await runController<Lease>(around, { apiVersion: API.scheduling, kind: "Lease", reconcile });
}
