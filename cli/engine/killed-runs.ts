import { existsSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { parseJson, readJsonObjectOf } from "../../lib/json";
import { judgePendingOperations } from "../../lib/pulumi/state";
import { plural } from "../../lib/text/plural";
import { listed } from "../../lib/text/quote";
import { findBackend } from "./backend";
import { withPrivateFolder, writePrivately } from "./private-file";
import { callPulumi, type Project, PulumiError } from "./pulumi";
import { findRemoteLock, fullName } from "./remote-lock";
import { clearDead, type FoundLock, judgeLock } from "./stack-lock";

/** A stack in a file backend. */
interface FileBackendStack {
  /** The backend's folder, which contains `.pulumi`. */
  readonly stateFolder: string;
  readonly project: string;
  readonly stack: string;
}

/** Names of state files: PULUMI_DIY_BACKEND_GZIP and PULUMI_DIY_BACKEND_ZSTD compress them. */
const STATE_FILE = /\.json(\.gz|\.zst)?$/;

/** Returns files of a folder by their names; none when there is no such folder. */
async function filesIn(folder: string, isWanted: (name: string) => boolean): Promise<string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  return names.filter(isWanted).map((name) => path.join(folder, name));
}

/** Returns the locks on a stack, each with a verdict from what is known on this host about its owner. */
export async function findLocks({ stateFolder, project, stack }: FileBackendStack): Promise<FoundLock[]> {
  const folder = path.join(stateFolder, ".pulumi", "locks", "organization", project, stack);
  const found: FoundLock[] = [];
  for (const file of await filesIn(folder, (name) => name.endsWith(".json"))) {
    const text = await readFile(file, "utf8").catch(() => undefined);
    // released since the listing
    if (text === undefined) continue;
    const clear = async () => {
      await rm(file, { force: true });
      // the file backend keeps each file's attributes next to it
      await rm(`${file}.attrs`, { force: true });
    };
    found.push({ verdict: judgeLock(text), clear });
  }
  return found;
}

/** Returns the stacks of a project by the names of their states, without reading them. */
export async function stacksInFolder(stateFolder: string, project: string): Promise<string[]> {
  const folder = path.join(stateFolder, ".pulumi", "stacks", project);
  const files = await filesIn(folder, (name) => STATE_FILE.test(name));
  return [...new Set(files.map((file) => path.basename(file).replace(STATE_FILE, "")))].sort();
}

/** @throws Error that names the project's stacks when this one does not exist */
export async function requireStack({ stateFolder, project, stack }: FileBackendStack): Promise<void> {
  const stacks = await stacksInFolder(stateFolder, project);
  if (stacks.includes(stack)) return;
  const others = stacks.length > 0 ? `it has ${listed(stacks)}` : "it has none";
  throw new Error(
    `the project ${project} has no stack ${stack} in ${stateFolder}; ${others}. Give --stack and --project as \`pulumi stack ls --all\` shows them`,
  );
}

/**
 * Deletes the locks whose process on this host is dead, and the attribute files that it left incomplete.
 *
 * @returns a line for each deleted file
 * @throws StackLockedError when another lock remains
 */
export async function clearDeadLocks(target: FileBackendStack): Promise<string[]> {
  const cleared = await clearDead(target.stack, await findLocks(target));
  return [...cleared, ...(await removeCorruptAttributes(target))];
}

/**
 * Clears what a dead `pulumi` left on a stack: in a folder, a bucket or a database. Pulumi Cloud does so by itself.
 *
 * @param what its locks alone, or also the pending operations that are safe to forget. A preview takes no lock, so a
 *   bucket or a database is not asked for locks alone.
 * @returns a line for each thing that was cleared
 * @throws StackLockedError while another process works on it
 */
export async function clearKilledRuns(
  project: Project,
  stack: string,
  what: "locks" | "operations",
): Promise<string[]> {
  const backend = await findBackend(project.folder);
  if (backend.kind === "folder") {
    const target = { stateFolder: backend.folder, project: project.name, stack };
    const cleared = await clearDeadLocks(target);
    if (what === "operations" && (await mayHavePending(target)))
      cleared.push(...(await clearPendingOperations(project, stack)));
    return cleared;
  }
  if (backend.kind === "service" || what === "locks") return [];
  const lock = await findRemoteLock(project, stack);
  if (lock === undefined) return [];
  // a killed run leaves its lock, too
  const cleared = await clearDead(stack, [lock]);
  return [...cleared, ...(await clearPendingOperations(project, stack))];
}

/**
 * Removes attribute files that a killed engine left incomplete. The file backend keeps one next to each of its files
 * and writes it in place, so a kill can leave it empty; then `pulumi` fails with "failed to load checkpoint: EOF". The
 * checkpoint itself is replaced atomically and can be read without attributes.
 *
 * Only for a stack on which no engine works.
 *
 * @returns a line for each removed file
 */
async function removeCorruptAttributes({ stateFolder, project, stack }: FileBackendStack): Promise<string[]> {
  const folder = path.join(stateFolder, ".pulumi", "stacks", project);
  const isAttributes = (name: string) => name.startsWith(`${stack}.json`) && name.endsWith(".attrs");
  const lines: string[] = [];
  for (const file of await filesIn(folder, isAttributes)) {
    if (parseJson(await readFile(file, "utf8")) !== undefined) continue;
    await rm(file, { force: true });
    lines.push(
      `removed ${path.basename(file)}, which a killed run of ${stack} left incomplete; the state itself is intact`,
    );
  }
  return lines;
}

/**
 * Clears what killed runs left pending in a stack, if all of it is safe to forget: these creates check what exists
 * first, so the next run finds their outcome. Only for a stack that is not locked, whose engine is therefore gone; the
 * engine locks it while it forgets them.
 *
 * @returns message lines; none when nothing is pending
 */
export async function clearPendingOperations(project: Project, stack: string): Promise<string[]> {
  const call = (...args: string[]) =>
    callPulumi({ project, args: [...args, "--stack", fullName(project.name, stack)] });
  try {
    const exported = (await call("stack", "export")).stdout;
    const { resumable, others } = judgePendingOperations(
      readJsonObjectOf("the output of pulumi stack export", exported),
    );
    const found = resumable.length + others.length;
    if (found === 0) return [];
    const words = `${plural(found, "pending operation")} of ${stack}`;
    const next = `look whether it exists, then run pulumi refresh --stack ${stack}`;
    if (others.length > 0)
      return [`kept ${words}, since the outcome of ${listed(others)} is unknown: ${next}`];
    await withPrivateFolder(async (folder) => {
      const file = path.join(folder, "stack.json");
      await writePrivately(file, exported);
      // the import forgets every pending operation, so it needs all of them to be resumable
      await call("stack", "import", "--file", file);
    });
    return [`cleared ${words} from a killed run: ${listed(resumable)}; the next run continues them`];
  } catch (error) {
    if (!(error instanceof PulumiError)) throw error;
    return [`the pending operations of ${stack} were kept, which does no harm: ${error.message}`];
  }
}

/** Checks the state's file, since calling the engine takes a second. Does not decompress a compressed file. */
export async function mayHavePending({ stateFolder, project, stack }: FileBackendStack): Promise<boolean> {
  const file = path.join(stateFolder, ".pulumi", "stacks", project, `${stack}.json`);
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text !== undefined) return text.includes('"pending_operations"');
  return existsSync(`${file}.gz`) || existsSync(`${file}.zst`);
}
