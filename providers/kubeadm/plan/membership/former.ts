import type { Machine } from "../machine";

/**
 * The machines that were configured once and are no longer: an `up` that was to remove them may have failed, so that
 * destroy still has to ask each whether it has something to reset.
 *
 * @param before what was configured until now, and what had left before
 */
export function formerMachines(
  before: { machines: readonly Machine[]; former?: readonly Machine[] },
  configured: readonly Machine[],
): Machine[] {
  const known = new Map(
    [...(before.former ?? []), ...before.machines].map((machine) => [machine.name, machine]),
  );
  for (const { name } of configured) known.delete(name);
  return [...known.values()];
}
