import { existsSync, realpathSync } from "node:fs";
import path from "node:path";

/** The package in which this code is installed. */
const PACKAGE = path.resolve(__dirname, "..", "..", "..");

/** Returns the nearest folder with a Pulumi.yaml, from a folder upwards; undefined without one. */
export function projectAbove(from: string): string | undefined {
  for (let folder = path.resolve(from); ; folder = path.dirname(folder)) {
    if (existsSync(path.join(folder, "Pulumi.yaml"))) return folder;
    if (path.dirname(folder) === folder) return undefined;
  }
}

/**
 * Makes the project's folder the current one of this process. With `main: node_modules/foresail` in Pulumi.yaml the engine
 * starts the program and the dynamic provider in the package, while relative paths mean the project's files.
 *
 * @param loaded the package that the process runs
 */
export function enterProject(environment = process.env, loaded = PACKAGE): void {
  const folder = process.cwd();
  if (folder !== realpathSync(loaded) || existsSync(path.join(loaded, "Pulumi.yaml"))) return;
  const { PULUMI_NODEJS_ROOT_DIRECTORY: root, PWD: named } = environment;
  // the package may be linked from elsewhere; the variable of a shell may be that of another process
  const started = named !== undefined && existsSync(named) && realpathSync(named) === folder ? named : folder;
  const project = projectAbove(root ?? started);
  if (project !== undefined) process.chdir(project);
}
