import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { sandboxFolder } from "../paths";
import type { DesiredSize } from "./system";

/** The number of machines in the cluster. */
export interface Size {
  readonly controlPlanes: number;
  readonly workers: number;
}

/** The size of a first start without flags. */
const DEFAULT_SIZE: Size = { controlPlanes: 1, workers: 1 };

const sizeFile = (system: string): string => path.join(sandboxFolder, `${system}-size.json`);

/** Returns the size to start with: the requested one, else that of the last start, else the default. */
export function chooseSize(desired: DesiredSize, kept: Partial<Size> | undefined): Size {
  return {
    controlPlanes: desired.controlPlanes ?? kept?.controlPlanes ?? DEFAULT_SIZE.controlPlanes,
    workers: desired.workers ?? kept?.workers ?? DEFAULT_SIZE.workers,
  };
}

/** A machine of the cluster by name and role. */
export interface PlannedMachine {
  /** Of a worker. @default the default pool */
  readonly pool?: string | undefined;
  readonly name: string;
  readonly role: "control-plane" | "worker";
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** Returns the machines of a cluster of that size: cp-1, cp-2, …, w-1, w-2, … */
export function planMachines(size: Size): PlannedMachine[] {
  const many = (count: number, prefix: string, role: PlannedMachine["role"]): PlannedMachine[] =>
    Array.from({ length: count }, (_, index) => ({ name: `${prefix}-${index + 1}`, role }));
  return [...many(size.controlPlanes, "cp", "control-plane"), ...many(size.workers, "w", "worker")];
}

/** Returns the size of a system's last start; undefined before the first. */
export async function readSize(system: string): Promise<Partial<Size> | undefined> {
  const text = await readFile(sizeFile(system), "utf8").catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as Partial<Size>);
}

/** Keeps the size for the next start without flags. */
export async function keepSize(system: string, size: Size): Promise<void> {
  await mkdir(sandboxFolder, { recursive: true, mode: 0o700 });
  await writeFile(sizeFile(system), `${JSON.stringify(size)}\n`);
}

/** Resets the size of the next start to the default. */
export async function forgetSize(system: string): Promise<void> {
  await rm(sizeFile(system), { force: true });
}
