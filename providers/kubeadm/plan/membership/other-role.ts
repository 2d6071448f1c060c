import type { Machine } from "../cluster/machine";

/** Returns why a machine that is a member with the other role, or half of one, is refused. */
export function otherRole({ name, role }: Pick<Machine, "name" | "role">, done = "joined"): string {
  const [has, wanted] = role === "control-plane" ? ["worker", "control plane"] : ["control plane", "worker"];
  return (
    `an interrupted run ${done} ${name} as a ${has}, and it can't become a ${wanted} in one run: ` +
    "take it out of the configuration, run `up`, then add it here"
  );
}
