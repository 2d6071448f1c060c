/**
 * Stands in for azimuth-schedule-operator (group scheduling.azimuth.stackhpc.com) with Blazar's part of it: a Lease
 * becomes Active at its start with maps of reserved sizes, ends at its grace period before `endsAt` by deleting its
 * owners in the foreground, and goes only when no other finalizer holds it. There is no cloud: a reserved flavour is
 * the name "reservation:<name>".
 */
import { API } from "../../../core/azimuth/names";
import { holdBy, letGo, runController, type Seen, setStatus, type Surroundings } from "./controller";

const FINALIZER = "scheduling.azimuth.stackhpc.com";
const DEFAULT_GRACE_SECONDS = 600;
/** How often a Lease that others hold is looked at; the real one takes 15 s. */
const RETRY_MILLISECONDS = 250;

interface LeaseSpec {
  cloudCredentialsSecretName: string;
  startsAt?: string;
  endsAt?: string;
  gracePeriod?: number;
  resources: { machines: { sizeId: string; count: number }[] };
}
type Lease = Seen<LeaseSpec, { phase?: string }>;

export async function runSchedule(around: Surroundings): Promise<void> {
  const { client, faults } = around;

  const end = async (lease: Lease): Promise<number | undefined> => {
    const others = (lease.metadata.finalizers ?? []).filter((finalizer) => finalizer !== FINALIZER);
    if (others.length > 0) return RETRY_MILLISECONDS;
    await setStatus(client, lease, { phase: "Deleting" });
    await letGo(client, lease, FINALIZER);
    return undefined;
  };

  const expire = async (lease: Lease): Promise<void> => {
    for (const { apiVersion, kind, name, uid } of lease.metadata.ownerReferences ?? [])
      await client.delete(
        { apiVersion, kind, name, namespace: lease.metadata.namespace },
        { propagationPolicy: "Foreground", uid },
      );
  };

  const reconcile = async (lease: Lease): Promise<number | undefined> => {
    const { spec, status = {}, metadata } = lease;
    if (metadata.deletionTimestamp) return end(lease);
    if (!(await holdBy(client, lease, FINALIZER))) return undefined;
    const { failed, neverReady } = faults.of("Lease", metadata);
    if (failed !== undefined)
      return void (await setStatus(client, lease, { phase: "Error", errorMessage: failed }));
    if (status.phase === undefined || neverReady)
      return void (await setStatus(client, lease, { phase: "Pending" }));
    const startsAt = spec.startsAt ? Date.parse(spec.startsAt) : 0;
    if (startsAt > Date.now()) return startsAt - Date.now();
    const names = spec.resources.machines.map(({ sizeId }) => sizeId);
    await setStatus(client, lease, {
      phase: "Active",
      sizeMap: Object.fromEntries(names.map((name) => [name, `id-${name}`])),
      sizeNameMap: Object.fromEntries(names.map((name) => [name, `reservation:${name}`])),
    });
    if (!spec.endsAt) return undefined;
    const expiresAt = Date.parse(spec.endsAt) - (spec.gracePeriod ?? DEFAULT_GRACE_SECONDS) * 1000;
    if (expiresAt > Date.now()) return Math.min(expiresAt - Date.now(), 2 ** 31 - 1);
    await expire(lease);
    return undefined;
  };

  await runController<Lease>(around, { apiVersion: API.scheduling, kind: "Lease", reconcile });
}
