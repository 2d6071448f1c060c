import { readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";

/** The properties of a node that stay fixed from its creation to its deletion. */
export interface NodeRecord {
  readonly name: string;
  /** the container's name */
  readonly container: string;
  /** port of 127.0.0.1 on which its sshd answers */
  readonly sshPort: number;
  /** port of 127.0.0.1 that is forwarded to its port 6443 */
  readonly apiPort: number;
  /** its address on the nodes' network */
  readonly internalAddress: string;
  /** "ssh-ed25519 AAAA…" */
  readonly hostKey: string;
}

const FILE = "node.json";

/** Writes the record. This is the last step of a node's creation, so a node with a record is complete. */
export async function writeRecord(folder: string, record: NodeRecord): Promise<void> {
  const file = path.join(folder, FILE);
  await writeFile(`${file}.part`, `${JSON.stringify(record, undefined, 2)}\n`);
  await rename(`${file}.part`, file);
}

/** Reads the record in a node's folder; undefined if the node is incomplete. */
export async function readRecord(folder: string): Promise<NodeRecord | undefined> {
  try {
    return JSON.parse(await readFile(path.join(folder, FILE), "utf8")) as NodeRecord;
  } catch {
    return undefined;
  }
}
