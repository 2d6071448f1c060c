import { listed } from "../../../lib/text/quote";
import { stoppedStatus } from "../plan/changed-in-cloud";
import {
  NONE_STOPPED,
  shrinkingPools,
  unreadStatuses,
  type StoppedMachines,
} from "../../kubeadm/plan/machines/stopped";
import type { CloudRef } from "../plan/cloud-facts";
import type { Pool } from "../plan/machine";

/** Deadline of each call to the cloud that asks about machines, in seconds. */
export const ASK_SECONDS = 20;

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
  const shrinking = shrinkingPools(pools, machines);
  const asked = machines.filter(({ name, pool }) => shrinking.includes(pool) || replaced.includes(name));
  if (asked.length === 0) return NONE_STOPPED;
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
    if (shrinking.length === 0) return NONE_STOPPED;
    return unreadStatuses(`the servers of ${listed(shrinking)}`, "openstack.cloud", error);
  }
}
