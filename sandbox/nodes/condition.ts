/** What is found of a node in the container engine and on disk. */
interface Remains {
  /** the engine's name for the container's state; undefined without a container */
  readonly state: string | undefined;
  /** whether the container's first process, according to the engine, is still running */
  readonly alive: boolean;
  /** whether its record was written, which is the last step of its creation */
  readonly recorded: boolean;
}

/**
 * - `running`, `stopped`: whole
 * - `gone`: the engine reports it as running, but its processes have ended; it can be started again
 * - `leftover`: partly created, or left by a killed run; it can only be removed
 */
export type Condition = "running" | "stopped" | "gone" | "leftover";

/** Determines the condition of a node. */
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
