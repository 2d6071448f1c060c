import { createHash } from "node:crypto";
import type { Instance, MachinePool, SandboxMachinePool } from "./kinds";

/** The next action of a pool's controller on its machines. */
type InstanceStep =
  | { do: "create"; instances: Instance[] }
  | { do: "delete"; names: string[] }
  | { do: "wait" }
  | { do: "nothing" };

const DEFAULT_VERSION = "v1.29.4";

/** The template of a pool's machines; a new revision triggers a rollout. */
export function revisionOf(machinePool: MachinePool, pool: SandboxMachinePool): string {
  const { version = DEFAULT_VERSION } = machinePool.spec.template.spec;
  const made = JSON.stringify([version, pool.spec?.template ?? {}]);
  return createHash("sha256").update(made).digest("hex").slice(0, 8);
}

/**
 * Returns the next step towards the desired machines: creates missing ones at once, deletes surplus ones with the
 * oldest revision first, and rolls out one machine at a time, creating a new one before it deletes an old one.
 *
 * @param made how many machines the pool has ever had, so that names are never reused
 * @param isReady whether all machines of the desired revision have a ready Node
 */
export function nextStep(
  present: readonly Instance[],
  wanted: { replicas: number; revision: string; version?: string; pool: string },
  made: number,
  isReady: boolean,
): InstanceStep {
  const { replicas, revision, version = DEFAULT_VERSION, pool } = wanted;
  const outdated = present.filter((instance) => instance.revision !== revision);
  const current = present.filter((instance) => instance.revision === revision);
  const make = (count: number): InstanceStep => ({
    do: "create",
    instances: Array.from({ length: count }, (_, index) => ({
      name: `${pool}-${made + index}`,
      revision,
      version,
    })),
  });
  if (present.length < replicas) return make(replicas - present.length);
  if (present.length > replicas) {
    const isRolling = outdated.length > 0 && current.length <= replicas;
    // the surplus machine of a rollout must be ready before an old one is deleted
    if (isRolling && current.length > 0 && !isReady) return { do: "wait" };
    const order = [...outdated, ...[...current].reverse()];
    return { do: "delete", names: order.slice(0, present.length - replicas).map(({ name }) => name) };
  }
  if (outdated.length === 0) return { do: "nothing" };
  if (current.length > 0 && !isReady) return { do: "wait" };
  return make(1);
}
