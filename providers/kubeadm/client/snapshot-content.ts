import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { decryptWith } from "../../../lib/age";
import { parseSnapshotFacts, type SnapshotFacts } from "../plan/backup/backup";

const BLOCK = 512;
/** etcd writes the digest of a snapshot at its end. */
const DIGEST = 32;
/** How much is read at once. */
const PIECE = 2 ** 16;
/** Largest description of a snapshot in an archive. */
const LONGEST_FACTS = 2 ** 16;

/** Opens the archive of a snapshot: gzip, as etcdSnapshotScript answers it. @param identities text of an identity file */
export const openSnapshot = (file: string, identities: string): Promise<Readable> =>
  decryptWith(identities, createReadStream(file));

/** A snapshot that was read to its end. */
export type ReadSnapshot = { readonly facts: SnapshotFacts } | { readonly fault: string };

/**
 * Reads a whole snapshot with a private key.
 *
 * @returns what it says of itself, or what is wrong with it
 * @throws Error when the key does not fit, or an encrypted byte is wrong
 */
export async function readSnapshot(file: string, identities: string): Promise<ReadSnapshot> {
  const archive = await openSnapshot(file, identities);
  const plain = archive.pipe(createGunzip());
  archive.on("error", (error) => plain.destroy(error));
  const bytes = new Bytes(plain);
  const database = await bytes.header();
  if (database?.name !== "etcd.db") return { fault: "it does not begin with a snapshot of etcd" };
  if (!(await hasFittingDigest(bytes, database.size)))
    return { fault: "etcd's digest of the snapshot does not fit" };
  await bytes.take(paddingOf(database.size));
  const description = await bytes.header();
  if (description?.name !== "snapshot.json" || description.size > LONGEST_FACTS)
    return { fault: "it has no description" };
  const facts = parseSnapshotFacts(file, (await bytes.take(description.size)).toString());
  // gzip has a check of its own at the end
  while ((await bytes.take(PIECE)).length > 0);
  return { facts };
}

/** Reads the snapshot of etcd, whose last bytes are the digest of those before them. */
async function hasFittingDigest(bytes: Bytes, size: number): Promise<boolean> {
  const hash = createHash("sha256");
  for (let left = size - DIGEST; left > 0;) {
    const piece = await bytes.take(Math.min(PIECE, left));
    if (piece.length === 0) return false;
    hash.update(piece);
    left -= piece.length;
  }
  return hash.digest().equals(await bytes.take(DIGEST));
}

const paddingOf = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK;

/** Reads a stream piece by piece. */
class Bytes {
  private readonly chunks: AsyncIterator<Buffer, undefined>;
  private held = Buffer.alloc(0);

  constructor(stream: Readable) {
    this.chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>;
  }

  /** Returns this many bytes, or all that are left. */
  async take(count: number): Promise<Buffer> {
    while (this.held.length < count) {
      const { value, done } = await this.chunks.next();
      if (done === true) break;
      this.held = Buffer.concat([this.held, value]);
    }
    const taken = this.held.subarray(0, count);
    this.held = this.held.subarray(taken.length);
    return taken;
  }

  /** Returns name and size in the header of an archive's next file; undefined at its end. */
  async header(): Promise<{ name: string; size: number } | undefined> {
    const block = await this.take(BLOCK);
    if (block.length < BLOCK) return undefined;
    const field = (from: number, to: number) =>
      block.subarray(from, to).toString("latin1").replace(/\0.*$/s, "").trim();
    // octal, or binary for 8 GiB and more
    const isBinary = ((block[124] ?? 0) & 0x80) !== 0;
    const size = isBinary ? Number(block.readBigUInt64BE(128)) : Number.parseInt(field(124, 136), 8);
    return { name: field(0, 100), size };
  }
}
