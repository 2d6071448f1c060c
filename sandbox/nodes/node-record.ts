import { readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";

/** What is fixed of a node from its creation to its end. */
export interface NodeRecord {
  readonly name: string;
  /** the container's name */
  readonly container: string;
  /** port of 127.0.0.1 on which its sshd answers */
  readonly sshPort: number;
  /** port of 127.0.0.1 that leads to its port 6443 */
  readonly apiPort: number;
  /** its address among the nodes */
  readonly internalAddress: string;
  /** "ssh-ed25519 AAAA…" */
  readonly hostKey: string;
}

const FILE = "node.json";

/** Writes the record: the last thing that a node's creation does, so its presence says that the node is whole. */
export async function writeRecord(folder: string, record: NodeRecord): Promise<void> {
  const file = path.join(folder, FILE);
  await writeFile(`${file}.part`, `${JSON.stringify(record, undefined, 2)}\n`);
  await rename(`${file}.part`, file);
}

/** The record in a node's folder, if it is whole. */
export async function readRecord(folder: string): Promise<NodeRecord | undefined> {
  try {
    return JSON.parse(await readFile(path.join(folder, FILE), "utf8")) as NodeRecord;
  } catch {
    return undefined;
  }
}
