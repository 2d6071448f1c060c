import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { writePrivate } from "../private-file";
import type { StoredConnection } from "./state";

/** What is fixed of a server from its first start to its deletion. */
export interface ProcessSettings {
  readonly generation: "mcis" | "infra";
  /** of 127.0.0.1 */
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly connections: readonly StoredConnection[];
  /** The system of container nodes that its VMs are; a DNS label. */
  readonly system: string;
  /** Kubernetes versions whose images each VM has from its beginning. */
  readonly bundles: readonly string[];
  /** Connection → the /16 of its VMs' public addresses, translated as clouds do; absent: they are the private ones. */
  readonly publicBlocks?: Readonly<Record<string, string>>;
  /** How long calls block, as a part of the recorded durations. */
  readonly pace: number;
}

/** Where a server keeps what. */
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

/** Writes the settings, for the owner's eyes only. */
export async function writeServerSettings(folder: string, settings: ProcessSettings): Promise<void> {
  await writePrivate(serverPaths(folder).settings, `${JSON.stringify(settings, undefined, 2)}\n`);
}

/** A password that nobody has to type. */
export function newPassword(): string {
  return randomBytes(24).toString("base64url");
}
