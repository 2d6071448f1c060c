import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Writable } from "node:stream";
import { gzipSync } from "node:zlib";
import { sha256OfFile } from "../../../../../lib/files";
import { readSnapshot } from "../../../../../providers/kubeadm/client/snapshot-content";
import {
  listSnapshots,
  recordedFault,
  removeExpired,
  writeSnapshot,
} from "../../../../../providers/kubeadm/client/snapshot-files";

const SECRET = "-----BEGIN RSA PRIVATE KEY-----";

/** Returns a snapshot as etcd writes it: data, then its digest. */
function etcdSnapshot(bytes: number, isDamaged = false): Buffer {
  const data = randomBytes(bytes);
  const digest = createHash("sha256").update(data).digest();
  if (isDamaged) data[0] = (data[0] ?? 0) ^ 1;
  return Buffer.concat([data, digest]);
}

/** Returns an archive of tar with files, compressed. */
function archive(files: Readonly<Record<string, Buffer>>): Buffer {
  const blocks = Object.entries(files).flatMap(([name, content]) => {
    const header = Buffer.alloc(512);
    header.write(name, 0);
    header.write(content.length.toString(8).padStart(11, "0"), 124);
    return [header, content, Buffer.alloc((512 - (content.length % 512)) % 512)];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}

const ASKED = { cluster: "demo", stack: "", machine: "cp-1" };

const factsAt = (taken: string) =>
  JSON.stringify({
    ...{ cluster: "demo", stack: "", machine: "cp-1", taken, version: "1.36.3" },
    ...{ revision: 7, hash: 8, keys: 9, bytes: 1024 },
  });

/** Reads a snapshot. @returns what is wrong with it */
async function snapshotFault(file: string, identities: string): Promise<string | undefined> {
  const read = await readSnapshot(file, identities);
  return "fault" in read ? read.fault : undefined;
}

describe("a snapshot in a folder", () => {
  let folder: string;
  let identity: string;
  let recipients: string[];

  before(async () => {
    const { generateIdentity, identityToRecipient } = await import("age-encryption");
    identity = await generateIdentity();
    recipients = [await identityToRecipient(identity)];
  });
  beforeEach(async () => (folder = await mkdtemp(path.join(tmpdir(), "foresail-snapshots-"))));
  afterEach(() => rm(folder, { recursive: true }));

  const content = (database = etcdSnapshot(300_000)) =>
    archive({
      "etcd.db": database,
      "snapshot.json": Buffer.from(factsAt("2026-11-28T00:15:33Z")),
      "etc/kubernetes/pki/ca.key": Buffer.from(SECRET),
    });
  const at = (taken: string) => ({ warn: assert.fail, now: () => Date.parse(taken) });
  /** Writes an answer in chunks of odd sizes, as SSH does. */
  const answer = (taken: string, body: Buffer, { chunk = 1021, fails = false } = {}) => ({
    fill: async (sink: Writable) => {
      const text = `${factsAt(taken)}\n${body.toString("base64")}`;
      const end = fails ? text.length / 2 : text.length;
      for (let at = 0; at < end; at += chunk) sink.write(text.slice(at, Math.min(at + chunk, end)));
      if (fails) throw new Error("the connection was lost");
      return Promise.resolve();
    },
  });
  const write = (taken: string, body = content(), options: { chunk?: number; fails?: boolean } = {}) =>
    writeSnapshot({ folder, recipients }, ASKED, answer(taken, body, options).fill, at(taken));

  it("is encrypted, complete, private to its owner, and listed with its facts", async () => {
    const kept = await write("2026-11-28T00:15:33Z");
    const file = path.join(folder, kept.file);
    assert.equal(kept.file, "demo-20261128T001533Z.age");
    const bytes = await readFile(file);
    assert.ok(bytes.subarray(0, 22).equals(Buffer.from("age-encryption.org/v1\n")));
    assert.ok(!bytes.includes(SECRET));
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal(await sha256OfFile(file), kept.sha256);
    assert.deepEqual(await listSnapshots(folder), [kept]);
    assert.equal(await snapshotFault(file, `# created\n${identity}\n`), undefined);
  });

  it("is read whatever the sizes of the chunks", async () => {
    for (const chunk of [1, 3, 4, 65536]) {
      const body = content(etcdSnapshot(chunk === 1 ? 5_000 : 300_000));
      const { file } = await write(`2026-11-28T00:00:0${chunk % 10}Z`, body, { chunk });
      assert.equal(await snapshotFault(path.join(folder, file), identity), undefined, `chunks of ${chunk}`);
    }
  });

  it("does not exist when its machine fails half-way, and leaves no part", async () => {
    await assert.rejects(
      write("2026-11-28T00:15:33Z", content(), { fails: true }),
      /the connection was lost/,
    );
    assert.deepEqual(await readdir(folder), []);
  });

  it("does not exist when the machine describes nothing", async () => {
    const fill = (sink: Writable) => Promise.resolve(sink.write("nonsense\n"));
    const silent = writeSnapshot({ folder, recipients }, ASKED, fill, { warn: assert.fail });
    await assert.rejects(silent, /does not describe a snapshot: "nonsense"/);
    assert.deepEqual(await readdir(folder), []);
  });

  it("does not exist when the machine answers with that of another stack", async () => {
    const { fill } = answer("2026-11-28T00:15:33Z", content());
    const asked = { ...ASKED, stack: "2f1c9c6e" };
    const other = writeSnapshot({ folder, recipients }, asked, fill, at("2026-11-28T00:15:33Z"));
    await assert.rejects(other, /cp-1 answers with a snapshot of another cluster, stack or machine/);
    assert.deepEqual(await readdir(folder), []);
  });

  it("has the time here when the machine's clock is wrong, and stays", async () => {
    const settings = { folder, recipients, keep: 1 };
    await write("2026-11-28T00:15:33Z");
    const { fill } = answer("2020-01-01T00:00:00Z", content());
    const said: string[] = [];
    const now = () => Date.parse("2026-11-28T01:15:33Z");
    const kept = await writeSnapshot(settings, ASKED, fill, { warn: (line) => said.push(line), now });
    assert.equal(kept.file, "demo-20261128T011533Z.age");
    assert.match(
      said.join(),
      /^cp-1: its clock is \d+ days behind the clock here; the snapshot is kept with/,
    );
    await removeExpired(settings, kept);
    assert.deepEqual(await listSnapshots(folder), [kept]);
  });

  it("is compared with the description beside it, when there is one", async () => {
    const kept = await write("2026-11-28T00:15:33Z");
    const file = path.join(folder, kept.file);
    assert.equal(await recordedFault(file), undefined);
    const bytes = await readFile(file);
    await writeFile(file, Buffer.concat([bytes, Buffer.from("x")]));
    assert.match((await recordedFault(file)) ?? "", /its SHA-256 is not the one that was recorded/);
    await rm(file.replace(/age$/, "json"));
    assert.equal(await recordedFault(file), undefined);
  });

  it("is refused with the folder's name where it can't be written", async () => {
    const file = path.join(folder, "file");
    await writeFile(file, "");
    const { fill } = answer("2026-11-28T00:15:33Z", content());
    await assert.rejects(
      writeSnapshot({ folder: path.join(file, "below"), recipients }, ASKED, fill, { warn: assert.fail }),
      /can't write a snapshot into .*file\/below: a part of its path is not a folder/,
    );
  });

  for (const [name, database, fault] of [
    ["a changed byte", etcdSnapshot(10_000, true), /digest of the snapshot does not fit/],
    ["no end", etcdSnapshot(10_000).subarray(0, 9_000), /digest of the snapshot does not fit/],
  ] as const)
    it(`of etcd with ${name} is found by its private key`, async () => {
      const { file } = await write("2026-11-28T00:15:33Z", content(database));
      assert.match((await snapshotFault(path.join(folder, file), identity)) ?? "", fault);
    });

  it("can't be read with another key, or without one", async () => {
    const { generateIdentity } = await import("age-encryption");
    const { file } = await write("2026-11-28T00:15:33Z");
    await assert.rejects(
      snapshotFault(path.join(folder, file), await generateIdentity()),
      /no identity matched/,
    );
    await assert.rejects(
      snapshotFault(path.join(folder, file), "age1"),
      /no line that begins with AGE-SECRET/,
    );
  });

  it("goes when it is too old or one too many, with its description and parts that killed runs left", async () => {
    for (const second of [1, 2]) await write(`2026-11-28T00:15:0${second}Z`);
    const newest = await write("2026-11-28T00:15:03Z");
    await writeFile(path.join(folder, ".snapshot.1.2.part"), "");
    await utimes(path.join(folder, ".snapshot.1.2.part"), 0, 0);
    await writeFile(path.join(folder, "notes.json"), "{}");
    const removed = await removeExpired({ folder, recipients, keep: 2 }, newest);
    assert.deepEqual(
      removed.map(({ file }) => file),
      ["demo-20261128T001501Z.age"],
    );
    assert.deepEqual((await readdir(folder)).sort(), [
      ...["demo-20261128T001502Z.age", "demo-20261128T001502Z.json"],
      ...["demo-20261128T001503Z.age", "demo-20261128T001503Z.json", "notes.json"],
    ]);
  });
});
