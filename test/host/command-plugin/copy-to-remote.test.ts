import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Properties } from "../../../sandbox/command-plugin/wire.js";
import { COPY, fixture } from "./fixture.js";

const SIGNATURE = "4dabf18193072939515e22adb298388d";
const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const textAsset = (text: string): Properties => ({
  [SIGNATURE]: "c44067f5952c0a294b673a41bacd8c17",
  text,
  hash: hash(text),
});
const fileAsset = (file: string): Properties => ({
  [SIGNATURE]: "c44067f5952c0a294b673a41bacd8c17",
  path: file,
  hash: hash(readFileSync(file, "utf8")),
});
const archive = (folder: string): Properties => ({
  [SIGNATURE]: "0def7320c3a5731c473e5ecbe6d01bc7",
  path: folder,
  hash: hash(folder),
});

describe("command plugin: copy to remote", function () {
  this.timeout(20_000);
  const host = fixture();
  const local = (...parts: string[]): string => path.join(host.directory, "local", ...parts);
  const remote = (...parts: string[]): string => path.join(host.directory, "remote", ...parts);
  const read = (...parts: string[]): string => readFileSync(remote(...parts), "utf8");
  const copy = (source: Properties, remotePath: string): Promise<{ outputs: Properties; id: string }> =>
    host.plugin.create(COPY, { connection: host.connection(), source, remotePath });

  before(() => {
    mkdirSync(local("tree", "inner"), { recursive: true });
    mkdirSync(remote("folder"), { recursive: true });
    writeFileSync(local("one.txt"), "one");
    writeFileSync(local("tree", "a.txt"), "a");
    writeFileSync(local("tree", "inner", "b.txt"), "b");
  });

  it("copies a string asset to a file, and creates its parent folders", async () => {
    const { outputs, id } = await copy(textAsset("text ü"), remote("new", "deep", "file.txt"));
    assert.equal(read("new", "deep", "file.txt"), "text ü");
    assert.match(id, /^[0-9a-f]{8}$/);
    assert.equal(outputs["remotePath"], remote("new", "deep", "file.txt"));
    assert.deepEqual(outputs["source"], textAsset("text ü"));
  });

  it("refuses a string asset for a folder", async () => {
    await assert.rejects(copy(textAsset("x"), remote("folder")), /is a directory/);
  });

  it("copies a file to a path, over a file, and into a folder", async () => {
    await copy(fileAsset(local("one.txt")), remote("other.txt"));
    assert.equal(read("other.txt"), "one");
    writeFileSync(local("one.txt"), "two, and longer");
    await copy(fileAsset(local("one.txt")), remote("other.txt"));
    assert.equal(read("other.txt"), "two, and longer");
    await copy(fileAsset(local("one.txt")), remote("folder"));
    assert.equal(read("folder", "one.txt"), "two, and longer");
  });

  it("copies a folder into the path, and only its content when the source ends in a slash", async () => {
    await copy(archive(local("tree")), remote("whole"));
    assert.equal(read("whole", "tree", "inner", "b.txt"), "b");
    await copy(archive(`${local("tree")}/`), remote("contents"));
    assert.equal(read("contents", "a.txt"), "a");
    assert.equal(read("contents", "inner", "b.txt"), "b");
  });

  it("copies again on update only when the source or the path changes", async () => {
    const given = {
      connection: host.connection(),
      source: textAsset("v1"),
      remotePath: remote("updated.txt"),
    };
    const { outputs } = await host.plugin.create(COPY, given);
    const before = host.server.logins.length;
    const same = await host.plugin.update(COPY, outputs, {
      ...given,
      connection: host.connection({ dialErrorLimit: 3 }),
    });
    assert.equal(host.server.logins.length, before);
    await host.plugin.update(COPY, same, { ...given, source: textAsset("v2") });
    assert.equal(read("updated.txt"), "v2");
  });

  it("leaves the copy where it is on delete", async () => {
    const { outputs } = await copy(textAsset("stays"), remote("stays.txt"));
    await host.plugin.delete(COPY, outputs);
    assert.equal(read("stays.txt"), "stays");
  });

  it("names the remote path that cannot be written", async () => {
    await copy(textAsset("x"), remote("plain-file"));
    await assert.rejects(copy(textAsset("x"), remote("plain-file", "below")), /plain-file/);
  });

  it("refuses a source that is not a local file, folder or text", async () => {
    const remotePath = remote("never");
    const uri = { [SIGNATURE]: "c44067f5952c0a294b673a41bacd8c17", uri: "http://127.0.0.1/x", hash: "0" };
    for (const source of [uri, "a string"]) {
      const { failures } = await host.plugin.check(COPY, { connection: { host: "h" }, source, remotePath });
      assert.equal(failures.length, 1, JSON.stringify(source));
    }
  });
});
