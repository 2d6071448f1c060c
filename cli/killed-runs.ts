import { existsSync, readFileSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { hostname, homedir } from "node:os";
import path from "node:path";
import { parseJson } from "../lib/json";
import { CommandError } from "./exit-codes";
import { type Project, callPulumi, PulumiError } from "./pulumi";
import { type ExportedStack, judgePendingOperations } from "../lib/pulumi/state";
import { withPrivateFolder, writePrivately } from "./private-file";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { readProcess } from "../lib/process/identity";
import { plural } from "../lib/text/plural";
import { listed } from "../lib/text/quote";

/** A stack in a file backend. */
interface FileBackendStack {
  /** The backend's folder, which contains `.pulumi`. */
  readonly stateFolder: string;
  readonly project: string;
  readonly stack: string;
}

/** The file backend's lock, `<state>/.pulumi/locks/organization/<project>/<stack>/<id>.json`. */
const LOCK = z.object({
  pid: z.int().positive(),
  username: z.string().catch("unknown"),
  hostname: z.string(),
  /** When the lock was taken, as an RFC 3339 time. */
  timestamp: z.string(),
});

/** What is known on this host about the process that a lock names. */
export type LockProcess =
  | { readonly alive: false }
  | { readonly alive: true; /** Undefined if unknown. */ readonly startedAt?: Date };

/** Whether a lock still has an owner. */
interface LockVerdict {
  /**
   * dead: the owner is gone, the lock may be deleted; held: by a running process of this host; unknown: it belongs to
   * another host or can't be read, only a person can decide
   */
  readonly kind: "dead" | "held" | "unknown";
  /** The reason as a phrase for messages. */
  readonly because: string;
}

/**
 * The kernel's start times have whole seconds and drift when the clock is set; a process number is reused much later
 * than this.
 */
const CLOCK_TOLERANCE_MILLISECONDS = 5_000;

/**
 * Decides whether a lock may be deleted without asking.
 *
 * @param text the lock's file, which may be half written
 * @param host this host's name, as the engine would write it
 * @param look returns what is known on this host about a process
 */
export function judgeLock(text: string, host: string, look: (pid: number) => LockProcess): LockVerdict {
  const lock = LOCK.safeParse(parseJson(text)).data;
  if (lock === undefined) return { kind: "unknown", because: "the lock file cannot be read" };
  const { pid, username, hostname, timestamp } = lock;
  const words = `process ${pid} of user ${username} on host ${hostname}, since ${timestamp}`;
  if (hostname !== host) return { kind: "unknown", because: `it is held by ${words}, which is another host` };
  const holder = look(pid);
  if (!holder.alive) return { kind: "dead", because: `${words}, is gone` };
  // both sides are NaN, and the comparison false, for a time that can't be read
  const latest = Date.parse(timestamp) + CLOCK_TOLERANCE_MILLISECONDS;
  if (holder.startedAt !== undefined && holder.startedAt.getTime() > latest)
    return { kind: "dead", because: `${words}, is gone; its number belongs to a younger process now` };
  return { kind: "held", because: `it is held by ${words}, which is alive` };
}

/** Returns files of a folder by their names; none when there is no such folder. */
async function filesIn(folder: string, isWanted: (name: string) => boolean): Promise<string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  return names.filter(isWanted).map((name) => path.join(folder, name));
}

/** A lock file and the verdict on its owner. */
interface FoundLock {
  readonly file: string;
  readonly verdict: LockVerdict;
}

/** Returns the locks on a stack, each with a verdict from what is known on this host about its owner. */
export async function findLocks({ stateFolder, project, stack }: FileBackendStack): Promise<FoundLock[]> {
  const folder = path.join(stateFolder, ".pulumi", "locks", "organization", project, stack);
  const found: FoundLock[] = [];
  for (const file of await filesIn(folder, (name) => name.endsWith(".json"))) {
    const text = await readFile(file, "utf8").catch(() => undefined);
    // released since the listing
    if (text === undefined) continue;
    found.push({ file, verdict: judgeLock(text, hostname(), lookUpProcess) });
  }
  return found;
}

/** @throws Error that names the project's stacks when this one does not exist */
export async function requireStack({ stateFolder, project, stack }: FileBackendStack): Promise<void> {
  const folder = path.join(stateFolder, ".pulumi", "stacks", project);
  const files = await filesIn(folder, (name) => /\.json(\.gz)?$/.test(name));
  const stacks = new Set(files.map((file) => path.basename(file).replace(/\.json(\.gz)?$/, "")));
  if (stacks.has(stack)) return;
  const others = stacks.size > 0 ? `it has ${listed([...stacks].sort())}` : "it has none";
  throw new Error(
    `the project ${project} has no stack ${stack} in ${stateFolder}; ${others}. Give --stack and --project as \`pulumi stack ls --all\` shows them`,
  );
}

/** Deletes a lock; a missing one is not an error. */
export async function deleteLock(lock: FoundLock): Promise<void> {
  await rm(lock.file, { force: true });
  // the file backend keeps each file's attributes next to it
  await rm(`${lock.file}.attrs`, { force: true });
}

/** The stack stays locked by a process that may still be running. */
export class StackLockedError extends CommandError {
  override readonly name = "StackLockedError";

  constructor(stack: string, locks: readonly FoundLock[]) {
    super(
      "locked",
      `the stack ${stack} is locked: ${locks.map((lock) => lock.verdict.because).join("; ")}\n` +
        `Wait for it to end. If it is certain that it no longer runs: foresail unlock --stack ${stack} (or: pulumi cancel ${stack})`,
    );
  }
}

/**
 * Deletes the locks whose process on this host is dead, and the attribute files that it left incomplete.
 *
 * @returns a line for each deleted file
 * @throws StackLockedError when another lock remains
 */
export async function clearDeadLocks(target: FileBackendStack): Promise<string[]> {
  const locks = await findLocks(target);
  const dead = locks.filter((lock) => lock.verdict.kind === "dead");
  for (const lock of dead) await deleteLock(lock);
  const remaining = locks.filter((lock) => lock.verdict.kind !== "dead");
  if (remaining.length > 0) throw new StackLockedError(target.stack, remaining);
  const cleared = dead.map((lock) => `cleared the lock of ${target.stack}: ${lock.verdict.because}`);
  return [...cleared, ...(await removeCorruptAttributes(target))];
}

/**
 * Clears what a dead `pulumi` left on a stack of a file backend; does nothing for other backends.
 *
 * @param what its locks alone, or also the pending operations that are safe to forget
 * @returns a line for each thing that was cleared
 * @throws StackLockedError while another process works on it
 */
export async function clearKilledRuns(
  { name, folder }: Project,
  stack: string,
  what: "locks" | "operations",
): Promise<string[]> {
  const stateFolder = await findStateFolder(stack).catch((error: unknown) => {
    if (error instanceof NotAFileBackendError) return undefined;
    throw error;
  });
  if (stateFolder === undefined) return [];
  const target = { stateFolder, project: name, stack };
  const cleared = await clearDeadLocks(target);
  if (what === "operations") cleared.push(...(await clearPendingOperations(target, folder)));
  return cleared;
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
 * Clears what killed runs left pending in a stack of a file backend, if all of it is safe to forget: these creates
 * check what exists first, so the next run finds their outcome. Only for a stack that is not locked, whose engine is
 * therefore gone.
 *
 * @param folder the folder in which to call `pulumi`
 * @returns message lines; none when nothing is pending
 */
export async function clearPendingOperations(target: FileBackendStack, folder: string): Promise<string[]> {
  if (!(await mayHavePending(target))) return [];
  const { project, stack } = target;
  const name = `organization/${project}/${stack}`;
  const call = (...args: string[]) =>
    callPulumi({ project: { folder, name: project }, args: [...args, "--stack", name] });
  try {
    const exported = (await call("stack", "export")).stdout;
    const { resumable, others } = judgePendingOperations(JSON.parse(exported) as ExportedStack);
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
async function mayHavePending({ stateFolder, project, stack }: FileBackendStack): Promise<boolean> {
  const file = path.join(stateFolder, ".pulumi", "stacks", project, `${stack}.json`);
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text !== undefined) return text.includes('"pending_operations"');
  return existsSync(`${file}.gz`);
}

/** The backend in use is not a file backend, and only its own service can clear its locks. */
export class NotAFileBackendError extends Error {
  override readonly name = "NotAFileBackendError";

  constructor(backend: string | undefined, stack: string) {
    super(
      `${backend === undefined ? "no backend is logged in to" : `the backend ${backend} is not a folder`}; ` +
        `its locks are cleared with: pulumi cancel ${stack}`,
    );
  }
}

/**
 * Returns the folder of the file backend that `pulumi` would use here: PULUMI_BACKEND_URL, else the last `pulumi
 * login`.
 *
 * @throws NotAFileBackendError
 */
export async function findStateFolder(stack: string, environment = process.env): Promise<string> {
  const backend = environment["PULUMI_BACKEND_URL"] ?? (await lastLogin(environment));
  if (backend === undefined || !backend.startsWith("file://")) throw new NotAFileBackendError(backend, stack);
  const location = backend.slice("file://".length);
  if (location === "~" || location.startsWith("~/")) return path.join(homedir(), location.slice(1));
  return location.startsWith("/") ? fileURLToPath(backend) : path.resolve(location);
}

async function lastLogin(environment: NodeJS.ProcessEnv): Promise<string | undefined> {
  const home = environment["PULUMI_HOME"] ?? path.join(homedir(), ".pulumi");
  const text = await readFile(path.join(home, "credentials.json"), "utf8").catch(() => "{}");
  return (JSON.parse(text) as { current?: string }).current;
}

/** Linux reports start times in hundredths of a second since the boot, whatever the kernel's own tick is. */
const TICKS_PER_SECOND = 100;

/** Looks up a process of this host. A zombie counts as gone. */
function lookUpProcess(pid: number): LockProcess {
  const found = readProcess(pid);
  if (found === undefined) return { alive: false };
  const startedAt = process.platform === "linux" ? sinceBoot(found.startTime) : Date.parse(found.startTime);
  return { alive: true, ...(Number.isFinite(startedAt) && { startedAt: new Date(startedAt) }) };
}

function sinceBoot(ticks: string): number {
  const bootedAt = /^btime (\d+)$/m.exec(readFileSync("/proc/stat", "utf8"))?.[1];
  return (Number(bootedAt) + Number(ticks) / TICKS_PER_SECOND) * 1000;
}
