import { existsSync } from "node:fs";
import path from "node:path";
import { projectFolder } from "./cache";
import { COMMAND_PLUGIN_FILE, COMMAND_PLUGIN_VARIABLE } from "./launchers";

/**
 * The environment in which the sandbox runs `pulumi`: the user's own, with the cached CLI first on PATH and the
 * sandbox's Pulumi home, and without their PULUMI_* variables, which could lead to their backend or login.
 * @param programs the folder of the CLI, or undefined when it was not requested
 */
export function toolchainEnvironment(
  cache: string,
  programs: string | undefined,
  base: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(base)) {
    if (value !== undefined && !name.startsWith("PULUMI_")) environment[name] = value;
  }
  const replacement = path.join(projectFolder, COMMAND_PLUGIN_FILE);
  return {
    ...environment,
    ...(programs === undefined
      ? {}
      : { PATH: [programs, base["PATH"]].filter(Boolean).join(path.delimiter) }),
    ...(existsSync(replacement) ? { [COMMAND_PLUGIN_VARIABLE]: replacement } : {}),
    PULUMI_HOME: path.join(cache, "pulumi-home"),
    PULUMI_SKIP_UPDATE_CHECK: "true",
  };
}
