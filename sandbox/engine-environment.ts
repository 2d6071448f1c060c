import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { PRELOADED, preloading } from "../cli/engine/pulumi";
import { passphraseFile, sandboxFolder, stateFolder } from "./paths";

export { preloading } from "../cli/engine/pulumi";

/** The script that the node processes of the sandbox's engines load first, as the tool chain's language host requires. */
export const PRELOADED_OPTIONS = path.join(__dirname, "preloaded-options.js");

/** The variables for running `pulumi` on the sandbox's stacks by hand. */
export function handVariables(pulumiHome: string): Record<string, string> {
  return {
    PULUMI_HOME: pulumiHome,
    PULUMI_BACKEND_URL: pathToFileURL(stateFolder).href,
    PULUMI_CONFIG_PASSPHRASE_FILE: passphraseFile,
  };
}

/**
 * The environment in which the sandbox runs the engine. It contains none of the user's PULUMI_* variables, so that the
 * sandbox cannot reach their backend or login.
 * @param base the environment of this process
 * @param toolchain the tool chain's variables, such as PATH and PULUMI_HOME
 */
export function engineEnvironment(
  base: NodeJS.ProcessEnv,
  toolchain: Record<string, string>,
): NodeJS.ProcessEnv {
  const inherited = Object.fromEntries(Object.entries(base).filter(([name]) => !name.startsWith("PULUMI_")));
  return {
    ...inherited,
    ...toolchain,
    ...handVariables(toolchain["PULUMI_HOME"] ?? ""),
    // diffs that read the live system run side by side (docs/benchmarks.md)
    PULUMI_PARALLEL_DIFF: "true",
    NODE_OPTIONS: preloading([PRELOADED_OPTIONS, ...PRELOADED], base["NODE_OPTIONS"]),
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_AUTOMATION_API_SKIP_VERSION_CHECK: "true",
    // every plugin comes from the tool chain: a missing one is an error at once, not a download in the middle of `up`
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
  };
}

/** Creates the state folder and the passphrase once; never replaces an existing passphrase. */
export async function ensureState(): Promise<void> {
  await mkdir(sandboxFolder, { recursive: true, mode: 0o700 });
  await mkdir(stateFolder, { recursive: true, mode: 0o700 });
  try {
    await writeFile(passphraseFile, `${randomBytes(32).toString("base64url")}\n`, {
      mode: 0o600,
      flag: "wx",
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
