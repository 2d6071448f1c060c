import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

/** The package in which this code is installed. */
const PACKAGE = path.resolve(__dirname, "..", "..", "..");

/** Returns where Pulumi's provider process, which starts in the project's folder, finds the handlers of the state. */
function foundHandlers(project: string): string | undefined {
  try {
    return realpathSync(createRequire(path.join(project, "Pulumi.yaml")).resolve("foresail/handlers"));
  } catch {
    return undefined;
  }
}

/** Tells whether the project itself has foresail among its dependencies, so that its package manager makes the link. */
function isDependency(project: string): boolean {
  try {
    const { name, dependencies, devDependencies } = JSON.parse(
      readFileSync(path.join(project, "package.json"), "utf8"),
    ) as { name?: string; dependencies?: object; devDependencies?: object };
    return name === "foresail" || "foresail" in { ...dependencies, ...devDependencies };
  } catch {
    return false;
  }
}

/** Tells whether a folder is that of a Pulumi project, or below it. */
function isBelowProject(folder: string): boolean {
  if (["Pulumi.yaml", "Pulumi.yml"].some((name) => existsSync(path.join(folder, name)))) return true;
  const parent = path.dirname(folder);
  return parent !== folder && isBelowProject(parent);
}

function isLink(file: string): boolean {
  try {
    return lstatSync(file).isSymbolicLink();
  } catch {
    return false;
  }
}

/** Tells whether a file is a link to another one; a link to nothing is not. */
function leadsTo(link: string, file: string): boolean {
  try {
    return isLink(link) && realpathSync(link) === realpathSync(file);
  } catch {
    return false;
  }
}

/**
 * Links a project's node_modules/foresail to the package that its program loaded, unless the project has its own. A package
 * manager that keeps each package's dependencies apart (pnpm) installs foresail only beside the library that needs it, while the
 * state names its code as require("foresail/handlers") (docs/adr/0002-one-line-providers.md). A link of an earlier run to another
 * place, such as that of an earlier version, is replaced.
 *
 * @param project the folder of Pulumi.yaml
 * @param loaded the package that the program loaded
 * @throws Error with the way on when the link can't be made
 */
export function linkPackage(project: string, loaded = PACKAGE): void {
  // tests with mocks, and programs inside of other ones, run anywhere
  if (!isBelowProject(project)) return;
  const link = path.join(project, "node_modules", "foresail");
  const found = foundHandlers(project);
  const isStale = isLink(link) && !isDependency(project);
  if (found?.startsWith(realpathSync(loaded) + path.sep) || (found !== undefined && !isStale)) return;
  try {
    mkdirSync(path.dirname(link), { recursive: true });
    if (isLink(link) && !isStale) throw new Error(`${link} leads to nothing`);
    const target = path.relative(realpathSync(path.dirname(link)), realpathSync(loaded));
    // others that look for the package meanwhile find the former link or this one
    const made = `${link}.${process.pid}`;
    rmSync(made, { force: true });
    symlinkSync(target, made, "junction");
    try {
      renameSync(made, link);
    } finally {
      rmSync(made, { force: true });
    }
  } catch (error) {
    // another program of the same project was faster; Node.js remembers that it did not find the package before
    if (leadsTo(link, loaded)) return;
    throw new Error(
      `foresail is not found from ${project}, where Pulumi looks for the code of its resources; add it to the dependencies of that project: npm install foresail (${error instanceof Error ? error.message : String(error)})`,
      { cause: error },
    );
  }
}
