import { createHash } from "node:crypto";
import { createReadStream, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { pipeline } from "node:stream/promises";

const FAULTS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  EACCES: "its permissions do not allow it",
  EPERM: "its permissions do not allow it",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of its path is not a folder",
  EROFS: "its file system is read-only",
  ENOSPC: "its file system is full",
};

/** Returns an error of the file system in words; undefined for other errors. */
export function fileFault(error: unknown): string | undefined {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined) return undefined;
  return FAULTS[code] ?? code;
}

/**
 * Reads a file that the user names.
 *
 * @param what the file's purpose, such as "the plan"
 * @param fix what to do when it can't be read
 */
export async function readGivenFile(file: string, what: string, fix: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    throw unreadable(file, what, fix, cause);
  }
}

/** Reads a file at once, as {@link readGivenFile} does. */
export function readGivenFileSync(file: string, what: string, fix: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw unreadable(file, what, fix, cause);
  }
}

/** Returns the error of a file or folder that the user names and that can't be read. */
export function unreadable(file: string, what: string, fix: string, cause: unknown): Error {
  return new Error(`can't read ${what} ${file}: ${fileFault(cause) ?? String(cause)}; ${fix}`, { cause });
}

/** Returns the SHA-256 of a file, hexadecimal. */
export async function sha256OfFile(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash);
  return hash.digest("hex");
}
