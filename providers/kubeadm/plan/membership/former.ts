import type { Machine } from "../machine";

/**
 * Returns the machines that were configured once and no longer are. The `up` that should have removed them may have
 * failed, so destroy still has to check each for something to reset.
 *
 * @param before the machines that were configured until now, and those that were removed from the configuration earlier
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
