import { chmod, copyFile, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Origin, Reporter } from "../progress";
import { modulesFolder } from "./cache";
import { download, DownloadUnavailable } from "./download";
import { goBuild } from "./go-build";
import { withLock } from "./lock";
import type { Download, Program } from "./program";
import { runCommand } from "./run-command";
import { sourceUrl } from "./source-hosts";
import { fingerprint, readStamp, writeStamp, type Stamp } from "./stamp";

/** An installed program, and its location. */
export interface Obtained {
  readonly program: Program;
  /** Absolute. */
  readonly folder: string;
  readonly stamp: Stamp;
}

/** Where the tool chain works; the modules are the project's own except in tests. */
export interface Paths {
  readonly cache: string;
  readonly modules: string;
}

/** Facts that a program reports once, right after its installation. */
export type Facts = (folder: string) => Promise<Readonly<Record<string, string>>>;

type Update = (detail: string) => void;

/** Fetches one download into the folder and extracts it if it is an archive. */
async function fetchInto(source: Download, downloads: string, folder: string, update: Update): Promise<void> {
  const url = sourceUrl(source.url);
  const checksums = sourceUrl(source.checksums);
  if (url === undefined || checksums === undefined)
    throw new DownloadUnavailable("downloads are switched off");
  const name = path.basename(source.url);
  if (source.members === undefined) {
    const file = path.join(folder, name);
    const kept = path.join(downloads, name);
    await download({ url, checksums }, name, kept, (detail) => update(`${name} ${detail}`));
    await rename(kept, file);
    return;
  }
  const archive = path.join(downloads, name);
  await download({ url, checksums }, name, archive, update);
  const unpacked = await mkdtemp(path.join(downloads, "unpacked-"));
  try {
    await runCommand("tar", ["-xzf", archive, "-C", unpacked], { minutes: 5 });
    for (const [file, member] of Object.entries(source.members)) {
      await rename(path.join(unpacked, member), path.join(folder, file));
    }
  } finally {
    await rm(unpacked, { recursive: true, force: true });
    await rm(archive, { force: true });
  }
}

async function tryDownloads(
  program: Program,
  cache: string,
  folder: string,
  update: Update,
): Promise<string[]> {
  if (program.downloads.length === 0) return ["there is no official download"];
  // one folder per program: the program's lock also protects its partial files
  const downloads = path.join(cache, "downloads", `${program.name}-${program.version}`);
  try {
    for (const source of program.downloads) await fetchInto(source, downloads, folder, update);
    await rm(downloads, { recursive: true, force: true });
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

/** Fills the folder from the first source that works. */
async function fill(
  program: Program,
  paths: Paths,
  work: string,
  folder: string,
  update: Update,
): Promise<Origin> {
  update("looking for an installed one");
  const installed = await program.installed?.(paths.cache);
  if (installed !== undefined) {
    for (const [file, from] of Object.entries(installed)) await copyFile(from, path.join(folder, file));
    return "installed";
  }
  update("requesting the official download");
  const refusals = await tryDownloads(program, paths.cache, folder, update);
  if (refusals.length === 0) return "downloaded";
  if (program.replacement !== undefined) {
    for (const [file, text] of Object.entries(program.replacement))
      await writeFile(path.join(folder, file), text);
    return "built";
  }
  try {
    for (const build of program.builds) await goBuild(build, { ...paths, work, target: folder }, update);
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    const tried = [...refusals, cause].join("\n  ");
    throw new Error(`${program.title} could be neither downloaded nor built:\n  ${tried}`, { cause: error });
  }
  return "built";
}

/**
 * Installs into a temporary folder and renames it into place, so that a program is installed completely or not at all.
 */
async function install(
  program: Program,
  paths: Paths,
  update: Update,
  made: string,
  facts: Facts | undefined,
): Promise<Stamp> {
  await mkdir(path.join(paths.cache, "work"), { recursive: true });
  const work = await mkdtemp(path.join(paths.cache, "work", `${program.name}-`));
  try {
    const folder = path.join(work, "folder");
    await mkdir(folder);
    const from = await fill(program, paths, work, folder, update);
    for (const [file, text] of Object.entries(program.launchers ?? {})) {
      await writeFile(path.join(folder, file), text);
    }
    for (const file of program.files) await chmod(path.join(folder, file), 0o755);
    const learnt = (await facts?.(folder)) ?? {};
    const path_ = path.join(paths.cache, program.folder);
    await mkdir(path.dirname(path_), { recursive: true });
    // a running program of the old folder keeps its file
    await rename(path_, path.join(work, "replaced")).catch(() => undefined);
    await rename(folder, path_);
    return await writeStamp(paths.cache, program, { made, from, facts: learnt });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/**
 * Ensures that a program is in the cache: does nothing when its stamp matches; otherwise uses the installed one, the
 * official download, or a build of its pinned Go module.
 * @throws Error that names the program, each source tried and its failure
 */
export async function obtain(
  program: Program,
  report: Reporter,
  cache: string,
  options: { modules?: string; facts?: Facts } = {},
): Promise<Obtained> {
  const paths: Paths = { cache, modules: options.modules ?? modulesFolder };
  const made = await fingerprint(program, paths.modules);
  const folder = path.join(cache, program.folder);
  const present = await readStamp(cache, program, made);
  if (present !== undefined) return { program, folder, stamp: present };
  const lock = path.join(cache, "locks", `${program.name}-${program.version}`);
  const done = await report.step(program.title, (update) =>
    withLock(lock, update, async () => {
      const others = await readStamp(cache, program, made); // another set-up may have installed it meanwhile
      if (others !== undefined) return { stamp: others, from: "cached" as Origin };
      const stamp = await install(program, paths, update, made, options.facts);
      return { stamp, from: stamp.from };
    }),
  );
  return { program, folder, stamp: done.stamp };
}
