import { statSync } from "node:fs";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileFault } from "../../lib/files";

/**
 * Writes a file atomically that only its owner may read: a reader never sees a partial plan, and an existing file with
 * a wider mode is replaced, not reused. A device, a pipe or a named pipe is written to: it stays what it is.
 *
 * @throws Error that names the file and what to do
 */
export async function writePrivately(file: string, text: string): Promise<void> {
  const device = deviceOf(file);
  if (device !== undefined) return writeToDevice(device, file, text);
  const temporary = path.join(path.dirname(path.resolve(file)), `.${path.basename(file)}.${process.pid}`);
  try {
    await writeFile(temporary, text, { mode: 0o600, flag: "wx" });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw unwritable(file, error);
  }
}

function unwritable(file: string, error: unknown): Error {
  const fault = fileFault(error);
  if (fault === undefined) return error as Error;
  return new Error(`can't write ${file}: ${fault}; name a file in a folder that you may write to`, {
    cause: error,
  });
}

type Device = NodeJS.WriteStream | "opened";

/** Returns what a path names that is not an ordinary file: a stream of this process, a device, a pipe; else undefined. */
function deviceOf(file: string): Device | undefined {
  const absolute = path.resolve(file);
  if (/^\/(dev\/(stdout|fd\/1)|proc\/self\/fd\/1)$/.test(absolute)) return process.stdout;
  if (/^\/(dev\/(stderr|fd\/2)|proc\/self\/fd\/2)$/.test(absolute)) return process.stderr;
  // `>(command)` of a shell is such a name, too
  if (/^\/(dev\/fd|proc\/[^/]+\/fd)\//.test(absolute)) return "opened";
  const found = statSync(absolute, { throwIfNoEntry: false });
  return found === undefined || found.isFile() || found.isDirectory() ? undefined : "opened";
}

async function writeToDevice(device: Device, file: string, text: string): Promise<void> {
  try {
    if (device === "opened") await writeFile(file, text, { flag: "a" });
    else
      await new Promise<void>((resolve, reject) =>
        device.write(text, (error) => (error ? reject(error) : resolve())),
      );
  } catch (error) {
    throw unwritable(file, error);
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
