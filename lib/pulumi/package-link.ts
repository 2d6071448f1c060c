import { mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

/** The package in which this code is installed. */
const PACKAGE = path.resolve(__dirname, "..", "..", "..");

/** Tells whether Pulumi's provider process, which starts in the project's folder, finds the handlers of the state. */
function isFound(project: string): boolean {
  try {
    createRequire(path.join(project, "Pulumi.yaml")).resolve("foresail/handlers");
    return true;
  } catch {
    return false;
  }
}

/**
 * Links a project's node_modules/foresail to the package that its program loaded, unless it is found there already. A package
 * manager that keeps each package's dependencies apart (pnpm) installs foresail only beside the library that needs it, while the
 * state names its code as require("foresail/handlers") (docs/adr/0002-one-line-providers.md).
 *
 * @param project the folder of Pulumi.yaml
 * @throws Error with the way on when the link can't be made
 */
export function linkPackage(project: string): void {
  if (isFound(project)) return;
  const folder = path.join(project, "node_modules");
  try {
    mkdirSync(folder, { recursive: true });
    symlinkSync(
      path.relative(realpathSync(folder), realpathSync(PACKAGE)),
      path.join(folder, "foresail"),
      "junction",
    );
  } catch (error) {
    // another program of the same project was faster
    if (isFound(project)) return;
    throw new Error(
      `foresail is not found from ${project}, where Pulumi looks for the code of its resources; add it to the dependencies of that project: npm install foresail (${error instanceof Error ? error.message : String(error)})`,
      { cause: error },
    );
  }
}
