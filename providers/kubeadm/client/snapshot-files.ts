import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { PassThrough, Readable, Transform, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { encryptFor } from "../../../lib/age";
import { fileFault, sha256OfFile } from "../../../lib/files";
import { isObject, parseJson } from "../../../lib/json";
import {
  assertAsked,
  type BackupSettings,
  datedSnapshot,
  expiredSnapshots,
  type KeptSnapshot,
  newestFirst,
  parseSnapshotFacts,
  type SnapshotIdentity,
  snapshotName,
} from "../plan/backup/backup";

/** Longest description of a snapshot, in characters. */
const LONGEST_FACTS = 4096;

/**
 * Writes a snapshot into a folder while it arrives: encrypted before it touches the disk, complete or not at all.
 *
 * @param asked of what the snapshot has to be
 * @param fill writes the answer of etcdSnapshotScript into the stream, and does not end it
 * @param warn prints a line
 * @throws what `fill` throws; Error that names the folder when it can't be written, or the snapshot when it is another one
 */
export async function writeSnapshot(
  { folder, recipients }: Pick<BackupSettings, "folder" | "recipients">,
  asked: SnapshotIdentity,
  fill: (answer: Writable) => Promise<unknown>,
  { warn, now = Date.now }: { readonly warn: (line: string) => void; readonly now?: () => number },
): Promise<KeptSnapshot> {
  const answer = new PassThrough();
  const chunks = answer[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>;
  const part = path.join(folder, `.snapshot.${process.pid}.${Date.now()}.part`);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const filled = fill(answer).then(
      () => answer.end(),
      (error: unknown) => answer.destroy(error as Error),
    );
    const { line, rest } = await firstLine(chunks);
    const answered = parseSnapshotFacts("the machine's answer", line);
    assertAsked(answered, asked);
    const { facts, clock } = datedSnapshot(answered, now());
    if (clock !== undefined) warn(clock);
    const encrypted = await encryptFor(recipients, Readable.from(decoded(rest, chunks)));
    const sha256 = createHash("sha256");
    await pipeline(
      encrypted,
      passing(sha256),
      createWriteStream(part, { mode: 0o600, flags: "wx", flush: true }),
    );
    await filled;
    const kept = { ...facts, file: `${snapshotName(facts)}.age`, sha256: sha256.digest("hex") };
    const description = path.join(folder, `${snapshotName(facts)}.json`);
    await writeFile(description, `${JSON.stringify(kept)}\n`, { mode: 0o600 });
    await rename(part, path.join(folder, kept.file));
    await syncFolder(folder);
    return kept;
  } catch (error) {
    answer.destroy();
    await rm(part, { force: true }).catch(() => undefined);
    const fault = fileFault(error);
    if (fault === undefined) throw error;
    throw new Error(`can't write a snapshot into ${path.resolve(folder)}: ${fault}`, { cause: error });
  }
}

async function firstLine(chunks: AsyncIterator<Buffer, undefined>): Promise<{ line: string; rest: string }> {
  let text = "";
  for (;;) {
    const end = text.indexOf("\n");
    if (end >= 0) return { line: text.slice(0, end), rest: text.slice(end + 1) };
    const { value, done } = await chunks.next();
    if (done === true || text.length > LONGEST_FACTS) return { line: text, rest: "" };
    text += value.toString("latin1");
  }
}

/** Decodes base64, of which a chunk may end anywhere. */
async function* decoded(begin: string, chunks: AsyncIterator<Buffer, undefined>): AsyncGenerator<Buffer> {
  let text = begin;
  for (;;) {
    const whole = text.length - (text.length % 4);
    if (whole > 0) yield Buffer.from(text.slice(0, whole), "base64");
    const { value, done } = await chunks.next();
    if (done === true) return;
    text = text.slice(whole) + value.toString("latin1");
  }
}

const passing = (hash: { update(chunk: Buffer): unknown }) =>
  new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });

/** Makes the names in a folder survive a power cut. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  await handle.sync().finally(() => handle.close());
}

/** Returns the snapshots in a folder, the newest one first; none when there is no such folder. */
export async function listSnapshots(folder: string): Promise<KeptSnapshot[]> {
  const names = await readdir(folder).catch((error: unknown): string[] => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  });
  const found = names
    .filter((name) => name.endsWith(".json") && names.includes(name.replace(/json$/, "age")))
    .map(async (name) => readDescription(path.join(folder, name)));
  return newestFirst((await Promise.all(found)).flatMap((each) => each ?? []));
}

/** Returns what a file beside a snapshot says; undefined for another file. */
async function readDescription(file: string): Promise<KeptSnapshot | undefined> {
  const text = await readFile(file, "utf8");
  const value = parseJson(text);
  if (!isObject(value) || typeof value.sha256 !== "string") return undefined;
  try {
    const facts = parseSnapshotFacts(file, text);
    // a description names the file beside it, and no other one
    return { ...facts, file: `${path.basename(file, ".json")}.age`, sha256: value.sha256 };
  } catch {
    return undefined;
  }
}

/** Removes the snapshots of the newest one's cluster that do not stay. @returns those */
export async function removeExpired(settings: BackupSettings, newest: KeptSnapshot): Promise<KeptSnapshot[]> {
  const { folder } = settings;
  const expired = expiredSnapshots(await listSnapshots(folder), settings, newest, Date.now());
  for (const name of await readdir(folder)) {
    if (/^\.snapshot\..*\.part$/.test(name)) await removeLeftPart(path.join(folder, name));
  }
  for (const { file } of expired) {
    await rm(path.join(folder, file), { force: true });
    await rm(path.join(folder, file.replace(/age$/, "json")), { force: true });
  }
  return expired;
}

/** A run that still writes a part has done so within this time. */
const PART_MILLISECONDS = 3_600_000;

/** Removes what a killed run has left. */
async function removeLeftPart(part: string): Promise<void> {
  const { mtimeMs } = await stat(part);
  if (mtimeMs < Date.now() - PART_MILLISECONDS) await rm(part, { force: true });
}

/** Returns what is wrong with a snapshot whose SHA-256 was recorded. */
export const digestFault = async (
  file: string,
  { sha256 }: Pick<KeptSnapshot, "sha256">,
): Promise<string | undefined> =>
  (await sha256OfFile(file)) === sha256 ? undefined : "its SHA-256 is not the one that was recorded with it";

/** Returns what is wrong with a snapshot by the description beside it; undefined when there is none. */
export async function recordedFault(file: string): Promise<string | undefined> {
  const description = `${file.replace(/\.age$/, "")}.json`;
  const recorded = await readDescription(description).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  });
  return recorded === undefined ? undefined : digestFault(file, recorded);
}
