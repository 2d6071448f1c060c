/**
 * The scripts that Pulumi's archive puts beside `pulumi`, and one of the sandbox's own. All of them `exec`: the engine
 * must be the parent of the provider's process, which ends itself when its parent is gone. Pulumi's own scripts do not
 * exec, so these replace them. The folder is searched upwards by the shell, as require.resolve would, but without the
 * 40 ms of a second node process.
 */
function runFromProject(what: string, file: string): string {
  return `#!/bin/sh
# Runs ${what} of the project in the working folder.
folder=$PWD
while [ ! -f "$folder/${file}" ]; do
  if [ "$folder" = / ] || [ -z "$folder" ]; then
    echo "${file} was not found in $PWD or above it; install the dependencies there: npm ci" >&2
    exit 1
  fi
  folder=$(dirname "$folder")
done
exec node "$folder/${file}" "$@"
`;
}

/** What the engine starts for dynamic resources and for policy packs; found beside `pulumi`. */
export const pulumiLaunchers: Readonly<Record<string, string>> = {
  "pulumi-resource-pulumi-nodejs": runFromProject(
    "the dynamic provider",
    "node_modules/@pulumi/pulumi/cmd/dynamic-provider/index.js",
  ),
  "pulumi-analyzer-policy": runFromProject(
    "the policy packs",
    "node_modules/@pulumi/pulumi/cmd/run-policy-pack/index.js",
  ),
};

/** The variable with the path of the clone's replacement that the launcher below runs. */
export const COMMAND_PLUGIN_VARIABLE = "FORESAIL_COMMAND_STAND_IN";

/** The compiled replacement of the `command` plugin, relative to the project. */
export const COMMAND_PLUGIN_FILE = "bin/sandbox/command-plugin/main.js";

/**
 * Starts the replacement of the `command` plugin. The cache is shared by clones, so the script names none: the tool
 * chain's environment does, and someone who runs `pulumi` by hand is in the project's folder.
 */
export const commandLauncher = runFromProject(
  "the replacement of the command plugin",
  COMMAND_PLUGIN_FILE,
).replace(
  "folder=$PWD\n",
  `if [ -f "\${${COMMAND_PLUGIN_VARIABLE}:-}" ]; then exec node "$${COMMAND_PLUGIN_VARIABLE}" "$@"; fi\nfolder=$PWD\n`,
);
