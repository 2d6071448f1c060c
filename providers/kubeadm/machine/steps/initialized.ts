import { AGENT_PATHS } from "../node-agent/paths";
import { refuseForeignMachine } from "./ownership";
import { frame, type Script } from "./script";

/**
 * Checks whether the node agent has found its machine ready. Answers the version of the agent that recorded it, or
 * nothing.
 */
export function initializedScript(cluster: string, machine: string): Script {
  return frame(
    "initialized",
    machine,
    [
      refuseForeignMachine(cluster, machine),
      `if [ -e ${AGENT_PATHS.initialized} ]; then cat ${AGENT_PATHS.initialized} >&4; fi`,
    ].join("\n"),
  );
}
