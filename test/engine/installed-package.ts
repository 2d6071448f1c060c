import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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
  linkDependencies(folder);
  installPackage(folder);
  return folder;
}

/**
 * Installs what `npm pack` packs, in place of what is there.
 *
 * @param version of the package, for a release that is yet to come; default: its own
 */
export function installPackage(folder: string, version?: string): void {
  // without the scripts: they would compile this project again
  const packed = execFileSync(
    "npm",
    ["pack", "--ignore-scripts", "--json", "--loglevel=error", "--pack-destination", folder],
    { cwd: projectFolder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] },
  );
  const [{ filename } = { filename: "" }] = JSON.parse(packed) as { filename: string }[];
  const archive = path.join(folder, filename);
  const installed = path.join(folder, "node_modules", "foresail");
  rmSync(installed, { recursive: true, force: true });
  mkdirSync(installed);
  execFileSync("tar", ["-xzf", archive, "-C", installed, "--strip-components=1"]);
  rmSync(archive);
  if (version === undefined) return;
  const manifest = path.join(installed, "package.json");
  const content = JSON.parse(readFileSync(manifest, "utf8")) as object;
  writeFileSync(manifest, JSON.stringify({ ...content, version }));
}
