import { randomUUID } from "node:crypto";
import { link, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** How long another set-up may lock a program: longer than its slowest build. */
const DEADLINE_MILLISECONDS = 60 * 60 * 1000;

/**
 * When a process began, in clock ticks since boot, or "" if none; distinguishes it from a later one with the same PID.
 */
export async function processBegan(pid: number): Promise<string> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  } catch {
    return ""; // not Linux
  }
}

async function isAlive(owner: string): Promise<boolean> {
  const [pid = "", began = ""] = owner.trim().split(" ");
  if (!/^[1-9]\d*$/.test(pid)) return false;
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  return (await processBegan(Number(pid))) === began;
}

/** Creates the lock file with its owner atomically; false when it exists. */
async function take(file: string, owner: string): Promise<boolean> {
  const mine = `${file}.${process.pid}-${randomUUID()}`;
  await writeFile(mine, owner);
  try {
    await link(mine, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  } finally {
    await rm(mine, { force: true });
  }
}

/**
 * Runs the work while no other process of this machine runs work with the same lock file. A lock whose owner is dead is
 * taken over. Two processes that take over at the same moment would both work, which costs time but is safe: results
 * are renamed into place atomically.
 * @throws Error when the lock was held for an hour
 */
export async function withLock<Result>(
  file: string,
  waiting: (detail: string) => void,
  work: () => Promise<Result>,
): Promise<Result> {
  await mkdir(path.dirname(file), { recursive: true });
  const deadline = Date.now() + DEADLINE_MILLISECONDS;
  const me = `${process.pid} ${await processBegan(process.pid)}`;
  while (!(await take(file, me))) {
    const owner = await readFile(file, "utf8").catch(() => undefined);
    if (owner === undefined) continue;
    if (!(await isAlive(owner))) {
      const dead = `${file}.dead-${process.pid}`;
      await rename(file, dead).catch(() => undefined);
      await rm(dead, { force: true });
      continue;
    }
    if (Date.now() > deadline)
      throw new Error(`${file} is locked by process ${owner}; end that process or delete the file`);
    waiting(`waiting for the set-up of process ${owner.split(" ")[0]}`);
    await delay(250);
  }
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}
