import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { projectFolder } from "../../sandbox/paths";

/** What Pulumi and node.js read of a clone at run time, besides bin/. */
const FILES = [
  "Pulumi.yaml",
  "package.json",
  "program.cjs",
  // of an earlier foresail, whose stack is recorded
  "scripts/program.cjs",
  "policy/PulumiPolicy.yaml",
  "policy/package.json",
  "policy/pulumi-analyzer-policy-foresail",
  "policy/environments/development.json",
];
/** Where the shell files are, which are not compiled. */
const SHELL = path.join("providers", "kubeadm", "machine");

/** Links every installed package of this project into another folder's node_modules, but foresail itself. */
export function linkDependencies(folder: string, project = projectFolder): void {
  const from = path.join(project, "node_modules");
  const to = path.join(folder, "node_modules");
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) {
    if (name === "foresail" || name === ".package-lock.json") continue;
    symlinkSync(path.join(from, name), path.join(to, name));
  }
}

/**
 * Makes a clone of this project as `npm run build` leaves it: compiled, dependencies there, node_modules/foresail linked to
 * itself. With its own folder it has its own stack files and its own sandbox.
 * @param from the compiled project; default: this one
 * @returns the folder; the caller deletes it
 */
export function makeCompiledClone(from = projectFolder): string {
  const folder = mkdtempSync(path.join(tmpdir(), "foresail-clone-"));
  // an earlier foresail, whose stack is recorded, has no policies
  for (const name of FILES.filter((each) => existsSync(path.join(from, each))))
    cpSync(path.join(from, name), path.join(folder, name));
  cpSync(path.join(from, "bin"), path.join(folder, "bin"), {
    recursive: true,
    filter: (source) => source !== path.join(from, "bin", "test"),
  });
  cpSync(path.join(projectFolder, SHELL), path.join(folder, SHELL), {
    recursive: true,
    filter: (source) => !source.endsWith(".ts"),
  });
  mkdirSync(path.join(folder, "stacks", "config"), { recursive: true });
  linkDependencies(folder, from);
  symlinkSync("..", path.join(folder, "node_modules", "foresail"));
  return folder;
}

/** Deletes a folder that a test made. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
