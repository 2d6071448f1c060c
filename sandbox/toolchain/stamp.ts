import { createHash } from "node:crypto";
import { mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Origin } from "../progress";
import { modulesFolder } from "./cache";
import type { Program } from "./program";

/** The record of an installed program, so that the next run does not have to query it. */
export interface Stamp {
  /** Version, pinned modules and launchers that it was made from. */
  readonly made: string;
  readonly from: Origin;
  /** File name → size in bytes. */
  readonly sizes: Readonly<Record<string, number>>;
  /** Other facts about it, such as the image tags that kubeadm reports. */
  readonly facts: Readonly<Record<string, string>>;
}

const stampFile = (cache: string, program: Program) =>
  path.join(cache, "stamps", `${program.name}-${program.version}.json`);

/** Returns a fingerprint of everything that defines a program: a different one triggers a new installation. */
export async function fingerprint(program: Program, modules: string = modulesFolder): Promise<string> {
  const hash = createHash("sha256").update(JSON.stringify(program));
  for (const { module } of program.builds) {
    for (const file of ["go.mod", "go.sum", "main.go"]) {
      hash.update(await readFile(path.join(modules, module, file)).catch(() => ""));
    }
  }
  return hash.digest("hex");
}

async function sizesOf(folder: string, files: readonly string[]): Promise<Record<string, number>> {
  const sizes = files.map(async (file) => [file, (await stat(path.join(folder, file))).size] as const);
  return Object.fromEntries(await Promise.all(sizes));
}

/** Returns the stamp of an intact program; undefined if it has to be installed. */
export async function readStamp(cache: string, program: Program, made: string): Promise<Stamp | undefined> {
  try {
    const stamp = JSON.parse(await readFile(stampFile(cache, program), "utf8")) as Stamp;
    const sizes = await sizesOf(path.join(cache, program.folder), program.files);
    const same = program.files.every((file) => sizes[file] === stamp.sizes[file]);
    return same && stamp.made === made ? stamp : undefined;
  } catch {
    return undefined; // missing or truncated: install it
  }
}

/** Records a program after its folder was renamed into place. */
export async function writeStamp(
  cache: string,
  program: Program,
  stamp: Omit<Stamp, "sizes">,
): Promise<Stamp> {
  const whole = { ...stamp, sizes: await sizesOf(path.join(cache, program.folder), program.files) };
  const file = stampFile(cache, program);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(`${file}.${process.pid}`, JSON.stringify(whole));
  await rename(`${file}.${process.pid}`, file);
  return whole;
}
