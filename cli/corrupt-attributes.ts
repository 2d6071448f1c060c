import { readdir, readFile, rm } from "node:fs/promises";
import path from "node:path";
import type { FileBackendStack } from "../lib/pulumi/backend-lock";

/**
 * Removes attribute files that a killed engine left incomplete. The file backend keeps one next to each of its files
 * and writes it in place, so a kill can leave it empty; then `pulumi` fails with "failed to load checkpoint: EOF". The
 * checkpoint itself is replaced atomically and can be read without attributes.
 *
 * Only for a stack on which no engine works.
 *
 * @returns a line for each removed file
 */
export async function removeCorruptAttributes({
  stateFolder,
  project,
  stack,
}: FileBackendStack): Promise<string[]> {
  const folder = path.join(stateFolder, ".pulumi", "stacks", project);
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const lines: string[] = [];
  for (const name of names.filter((each) => each.startsWith(`${stack}.json`) && each.endsWith(".attrs"))) {
    const file = path.join(folder, name);
    if (isJson(await readFile(file, "utf8"))) continue;
    await rm(file, { force: true });
    lines.push(`removed ${name}, which a killed run of ${stack} half wrote; the state itself is whole`);
  }
  return lines;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
