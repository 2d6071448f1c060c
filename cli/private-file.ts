import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileFault } from "../lib/files";

/**
 * Writes a file atomically that only its owner may read: a reader never sees a partial plan, and an existing file with
 * a wider mode is replaced, not reused.
 *
 * @throws Error that names the file and what to do
 */
export async function writePrivately(file: string, text: string): Promise<void> {
  const temporary = path.join(path.dirname(path.resolve(file)), `.${path.basename(file)}.${process.pid}`);
  try {
    await writeFile(temporary, text, { mode: 0o600, flag: "wx" });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    const fault = fileFault(error);
    if (fault === undefined) throw error;
    throw new Error(`can't write ${file}: ${fault}; name a file in a folder that you may write to`, {
      cause: error,
    });
  }
}

/** Runs work with a temporary folder that only this user may enter, and deletes the folder afterwards. */
export async function withPrivateFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(path.join(tmpdir(), "foresail-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
