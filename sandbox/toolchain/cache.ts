import { homedir } from "node:os";
import path from "node:path";

/** The folder shared by all clones on this machine: $XDG_CACHE_HOME/foresail, or ~/.cache/foresail. */
export function cacheFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const caches = environment["XDG_CACHE_HOME"] || path.join(homedir(), ".cache");
  return path.join(caches, "foresail");
}

/** This project's folder: where package.json is. The file runs from bin/sandbox/toolchain/. */
export const projectFolder = path.resolve(__dirname, "..", "..", "..");

/** The pinned Go modules that programs are built from. */
export const modulesFolder = path.join(projectFolder, "sandbox", "toolchain", "modules");

/** The locked sets of Python packages. */
export const pythonFolder = path.join(projectFolder, "sandbox", "toolchain", "python");
