import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { projectFolder } from "../../sandbox/paths";
import { linkDependencies } from "./compiled-clone";

/**
 * Makes a folder with foresail installed from what `npm pack` packs, and its dependencies linked from here, so that no
 * network is needed.
 * @returns the folder; the caller deletes it
 */
export function makeInstalledProject(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "foresail-installed-"));
  // without the scripts: they would compile this project again
  const packed = execFileSync(
    "npm",
    ["pack", "--ignore-scripts", "--json", "--loglevel=error", "--pack-destination", folder],
    { cwd: projectFolder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] },
  );
  const [{ filename } = { filename: "" }] = JSON.parse(packed) as { filename: string }[];
  linkDependencies(folder);
  const installed = path.join(folder, "node_modules", "foresail");
  mkdirSync(installed);
  execFileSync("tar", ["-xzf", path.join(folder, filename), "-C", installed, "--strip-components=1"]);
  return folder;
}
