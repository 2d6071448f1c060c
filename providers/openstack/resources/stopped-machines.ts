import { messageOf } from "../../../lib/error-message";
import { listed } from "../../../lib/text/quote";
import { stoppedStatus } from "../plan/changed-in-cloud";
import type { CloudRef, UnmetRequirement } from "../plan/cloud-facts";
import type { Pool } from "../plan/machine";

/** Deadline of each call to the cloud that asks about machines, in seconds. */
export const ASK_SECONDS = 20;

/** What the cloud says about the machines that may leave. */
export interface StoppedMachines {
  /** Machine → status of its server, which does not run. */
  stopped: Readonly<Record<string, string>>;
  /** Why the statuses are unknown. */
  refusals: UnmetRequirement[];
}

/**
 * Asks the cloud which machines of pools that become smaller do not run, since those leave first, and which machines that
 * are replaced, since those can't be drained. Asks nothing when no pool has more slots in the state than replicas and
 * nothing is replaced.
 *
 * @param serverIds machine → id of its server
 * @param replaced machines that this run or a later one replaces
 */
export async function readStoppedMachines(
  ref: CloudRef,
  pools: readonly Pick<Pool, "name" | "replicas">[],
  machines: readonly { name: string; slot: string; pool: string }[],
  serverIds: Readonly<Record<string, string>>,
  replaced: readonly string[] = [],
): Promise<StoppedMachines> {
  const shrinking = [...new Set(machines.map(({ pool }) => pool))].filter((name) => {
    const slots = new Set(machines.flatMap(({ pool, slot }) => (pool === name ? [slot] : [])));
    return slots.size > (pools.find((pool) => pool.name === name)?.replicas ?? 0);
  });
  const asked = machines.filter(({ name, pool }) => shrinking.includes(pool) || replaced.includes(name));
  if (asked.length === 0) return { stopped: {}, refusals: [] };
  try {
    // loaded here, because most runs ask nothing
    const [{ Cloud }, { readServer }] = await Promise.all([
      import("../client/cloud.js"),
      import("../client/facts.js"),
    ]);
    const statuses = await Cloud.use(ref, { seconds: ASK_SECONDS }, (cloud) =>
      Promise.all(
        asked.map(async ({ name }) => {
          const id = serverIds[name];
          const server = id === undefined ? undefined : await readServer(cloud, id);
          return [name, stoppedStatus(server?.status)] as const;
        }),
      ),
    );
    const stopped = statuses.flatMap(([name, status]) => (status === undefined ? [] : [[name, status]]));
    return { stopped: Object.fromEntries(stopped) as Record<string, string>, refusals: [] };
  } catch (error) {
    // a drain of a machine that does not run fails, and changes nothing else
    if (shrinking.length === 0) return { stopped: {}, refusals: [] };
    const reason =
      `the servers of ${listed(shrinking)} could not be read, and those that do not run leave first: ` +
      messageOf(error);
    return { stopped: {}, refusals: [{ property: "openstack.cloud", reason }] };
  }
}
