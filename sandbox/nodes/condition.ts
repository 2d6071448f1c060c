/** What is found of a node, in the engine and on disk. */
interface Remains {
  /** the engine's word for the container's state; undefined when there is no container */
  readonly state: string | undefined;
  /** whether the process that the engine names as the container's first still lives */
  readonly alive: boolean;
  /** whether its record was written: the last thing that its creation does */
  readonly recorded: boolean;
}

/**
 * - `running`, `stopped`: whole
 * - `gone`: the engine believes that it runs, but its processes are gone; may be started again
 * - `leftover`: half made, or what a killed run left of it; only good for removal
 */
export type Condition = "running" | "stopped" | "gone" | "leftover";

/** Judges what is found of a node. */
export function judge({ state, alive, recorded }: Remains): Condition {
  if (state === undefined || !recorded) return "leftover";
  switch (state) {
    case "running":
      return alive ? "running" : "gone";
    case "exited":
    case "stopped":
      return "stopped";
    case "stopping":
    case "paused":
      return alive ? "leftover" : "gone";
    default:
      // created, configured, initialized, removing, dead, unknown
      return "leftover";
  }
}
