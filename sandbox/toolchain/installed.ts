import { access, constants, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { runCommand } from "./run-command";

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

/** Programs in the tool chain's own cache do not count as installed: their stamp decides. */
function isBelow(folder: string, file: string): boolean {
  return !path.relative(folder, file).startsWith("..");
}

/** Looks for a program in the folders of PATH. */
export async function findOnPath(
  name: string,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<string | undefined> {
  for (const folder of (environment["PATH"] ?? "")
    .split(path.delimiter)
    .filter((entry) => path.isAbsolute(entry))) {
    const file = path.join(folder, name);
    if (await isExecutable(file)) return file;
  }
  return undefined;
}

/** The Pulumi CLI of that version with its node.js language host beside it, if PATH has it. */
export async function installedPulumi(
  version: string,
  cache: string,
): Promise<Record<string, string> | undefined> {
  const found = await findOnPath("pulumi");
  if (found === undefined) return undefined;
  const pulumi = await realpath(found);
  if (isBelow(cache, pulumi)) return undefined;
  const language = path.join(path.dirname(pulumi), "pulumi-language-nodejs");
  if (!(await isExecutable(language))) return undefined;
  const env = { ...process.env, PULUMI_SKIP_UPDATE_CHECK: "true" };
  const says = await runCommand(pulumi, ["version"], { env, minutes: 0.25 }).catch(() => "");
  return says.trim() === `v${version}` ? { pulumi, "pulumi-language-nodejs": language } : undefined;
}

/** Finds a plugin in the user's own Pulumi home, which is only read, never written. */
export async function installedPlugin(
  name: string,
  version: string,
  cache: string,
): Promise<Record<string, string> | undefined> {
  const home = process.env["PULUMI_HOME"] || path.join(homedir(), ".pulumi");
  if (isBelow(cache, home)) return undefined;
  const folder = path.join(home, "plugins", `resource-${name}-v${version}`);
  const file = path.join(folder, `pulumi-resource-${name}`);
  // the engine marks a plugin that is still being unpacked
  const partial = await stat(`${folder}.partial`).then(
    () => true,
    () => false,
  );
  return !partial && (await isExecutable(file)) ? { [path.basename(file)]: file } : undefined;
}
