import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { writePrivate } from "../private-file";
import type { StoredConnection } from "./state";

/** The settings of a server that stay fixed from its first start to its deletion. */
export interface ProcessSettings {
  readonly generation: "mcis" | "infra";
  /** of 127.0.0.1 */
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly connections: readonly StoredConnection[];
  /** The system of its VMs' container nodes; a DNS label. */
  readonly system: string;
  /** Kubernetes versions whose images are preloaded on each VM. */
  readonly bundles: readonly string[];
  /**
   * Connection → the /16 of its VMs' public addresses, translated as clouds do; absent: the private addresses are used.
   */
  readonly publicBlocks?: Readonly<Record<string, string>>;
  /** How long calls block, as a fraction of the recorded durations. */
  readonly pace: number;
}

/** Returns the paths of a server's files. */
export function serverPaths(folder: string) {
  return {
    folder,
    settings: path.join(folder, "server.json"),
    processes: path.join(folder, "processes.json"),
    logs: path.join(folder, "logs"),
    state: path.join(folder, "state"),
  };
}

/** Reads the settings of a server; undefined before its first start. */
export async function readServerSettings(folder: string): Promise<ProcessSettings | undefined> {
  const text = await readFile(serverPaths(folder).settings, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  return text === undefined ? undefined : (JSON.parse(text) as ProcessSettings);
}

/** Writes the settings, readable by their owner only. */
export async function writeServerSettings(folder: string, settings: ProcessSettings): Promise<void> {
  await writePrivate(serverPaths(folder).settings, `${JSON.stringify(settings, undefined, 2)}\n`);
}

/** Generates a random password. */
export function newPassword(): string {
  return randomBytes(24).toString("base64url");
}
