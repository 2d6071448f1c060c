import { NODE_PATHS } from "../../plan/node-paths";

/** The node agent's files on a machine. Folder, configuration and installers are for root alone. */
export const AGENT_PATHS = {
  program: "/usr/local/lib/foresail/node-agent",
  unit: NODE_PATHS.agentUnit,
  configuration: NODE_PATHS.agentConfiguration,
  folder: NODE_PATHS.agent,
  installers: `${NODE_PATHS.agent}/install`,
  /** Exists while the machine's software is as a node needs it. */
  initialized: `${NODE_PATHS.agent}/initialized`,
} as const;

export const AGENT_SERVICE = "foresail-node-agent";

/** Where the installer of one version lies; what has none here can't be asked for. */
export function installerPath(software: string, version: string): string {
  return `${AGENT_PATHS.installers}/${software}/${version}`;
}
