import { NODE_PATHS } from "../../plan/node-paths";

/** Paths of the node agent's files on a machine. Only root can access folder, configuration and installers. */
export const AGENT_PATHS = {
  program: "/usr/local/lib/foresail/node-agent",
  unit: NODE_PATHS.agentUnit,
  configuration: NODE_PATHS.agentConfiguration,
  folder: NODE_PATHS.agent,
  installers: `${NODE_PATHS.agent}/install`,
  /** Exists while the machine's software meets the requirements of a node. */
  initialized: `${NODE_PATHS.agent}/initialized`,
} as const;

export const AGENT_SERVICE = "foresail-node-agent";

/** Returns the path of the installer of one version; a version without one can't be requested. */
export function installerPath(software: string, version: string): string {
  return `${AGENT_PATHS.installers}/${software}/${version}`;
}
