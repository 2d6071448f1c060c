import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { decryptWith } from "../../../lib/age";

const BLOCK = 512;
/** etcd writes the digest of a snapshot at its end. */
const DIGEST = 32;

/** Opens the archive of a snapshot: gzip of what etcdSnapshotScript answers. @param identities text of an identity file */
export const openSnapshot = (file: string, identities: string): Promise<Readable> =>
  decryptWith(identities, createReadStream(file));

/**
 * Reads a whole snapshot with a private key.
 *
 * @returns what is wrong with it, or undefined when it is complete and etcd's own digest fits
 */
export async function snapshotFault(file: string, identities: string): Promise<string | undefined> {
  const archive = await openSnapshot(file, identities);
  const plain = archive.pipe(createGunzip());
  archive.on("error", (error) => plain.destroy(error));
  const hash = createHash("sha256");
  let header = Buffer.alloc(0);
  let tail = Buffer.alloc(0);
  let left: number | undefined;
  for await (const each of plain as AsyncIterable<Buffer>) {
    let chunk = each;
    if (left === undefined) {
      header = Buffer.concat([header, chunk]);
      if (header.length < BLOCK) continue;
      if (nameOf(header) !== "etcd.db") return "it does not begin with a snapshot of etcd";
      left = sizeOf(header);
      chunk = header.subarray(BLOCK);
    }
    const own = chunk.subarray(0, Math.max(left, 0));
    left -= own.length;
    // the last bytes are the digest of what comes before them
    const known = Buffer.concat([tail, own]);
    const until = Math.max(known.length - DIGEST, 0);
    hash.update(known.subarray(0, until));
    tail = known.subarray(until);
  }
  if (left === undefined || left > 0) return "it is not complete";
  return hash.digest().equals(tail) ? undefined : "etcd's digest of the snapshot does not fit";
}

/** Returns the name in the header of an archive's first file. */
const nameOf = (header: Buffer): string => header.subarray(0, 100).toString("latin1").replace(/\0.*$/s, "");

/** Returns the size in the header of a file: octal, or binary for 8 GiB and more. */
const sizeOf = (header: Buffer): number =>
  (header[124] ?? 0) & 0x80
    ? Number(header.readBigUInt64BE(128))
    : Number.parseInt(header.subarray(124, 136).toString("latin1").replace(/\0.*$/s, "").trim(), 8);
