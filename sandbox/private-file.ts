import { chmod, mkdir, rename, writeFile } from "node:fs/promises";
import path from "node:path";

/** Writes a file atomically with the mode 0600, in a folder with the mode 0700. */
export async function writePrivate(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(`${file}.part`, text, { mode: 0o600 });
  await chmod(`${file}.part`, 0o600);
  await rename(`${file}.part`, file);
}
