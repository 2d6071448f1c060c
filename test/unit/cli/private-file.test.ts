import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { lstatSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { projectFolder } from "../../../sandbox/paths";

const WRITE = `require(${JSON.stringify(path.join(projectFolder, "bin/cli/engine/private-file.js"))}).writePrivately(process.argv[1], "the text\\n").catch((error) => { console.error(error.message); process.exit(1); })`;

describe("a file that a command writes", function () {
  this.timeout(30_000);
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(path.join(tmpdir(), "foresail-private-"))));
  afterEach(() => rmSync(folder, { recursive: true }));

  for (const [name, stream] of [
    ["/dev/stdout", "stdout"],
    ["/dev/fd/1", "stdout"],
    ["/proc/self/fd/1", "stdout"],
    ["/dev/stderr", "stderr"],
  ] as const)
    it(`is written to ${name}, which stays what it is`, () => {
      const before = lstatSync(name).isSymbolicLink();
      const { status, stdout, stderr } = spawnSync(process.execPath, ["-e", WRITE, name], {
        encoding: "utf8",
      });
      assert.deepEqual({ status, text: { stdout, stderr }[stream] }, { status: 0, text: "the text\n" });
      assert.equal(lstatSync(name).isSymbolicLink(), before);
    });

  it("is written behind what a file has that /dev/stdout leads to", () => {
    const file = path.join(folder, "log");
    execFileSync("sh", [
      "-c",
      'echo first >"$2"; "$0" -e "$1" /dev/stdout >>"$2"',
      process.execPath,
      WRITE,
      file,
    ]);
    assert.equal(readFileSync(file, "utf8"), "first\nthe text\n");
    assert.ok(lstatSync("/dev/stdout").isSymbolicLink());
  });

  it("is written to a device and a named pipe, which stay what they are", async () => {
    assert.equal(spawnSync(process.execPath, ["-e", WRITE, "/dev/null"]).status, 0);
    assert.ok(statSync("/dev/null").isCharacterDevice());
    const pipe = path.join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    const reader = spawn("cat", [pipe], { stdio: ["ignore", "pipe", "ignore"] });
    const found = text(reader.stdout);
    const writer = spawn(process.execPath, ["-e", WRITE, pipe]);
    assert.deepEqual(await once(writer, "exit"), [0, null]);
    assert.equal(await found, "the text\n");
    assert.ok(statSync(pipe).isFIFO());
  });

  it("replaces an ordinary file with one that only its owner may read, and never a folder", () => {
    const file = path.join(folder, "plan.json");
    execFileSync("sh", ["-c", 'echo wide >"$0"; chmod 644 "$0"', file]);
    assert.equal(spawnSync(process.execPath, ["-e", WRITE, file]).status, 0);
    assert.deepEqual([readFileSync(file, "utf8"), statSync(file).mode & 0o777], ["the text\n", 0o600]);
    const { status, stderr } = spawnSync(process.execPath, ["-e", WRITE, folder], { encoding: "utf8" });
    assert.equal(status, 1);
    assert.match(stderr, /^can't write .*; name a file in a folder that you may write to\n$/);
  });
});
