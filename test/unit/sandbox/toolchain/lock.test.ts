import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { withLock } from "../../../../sandbox/toolchain/lock";

describe("the lock of a program", () => {
  let folder: string;
  let lock: string;

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "foresail-lock-"));
    lock = path.join(folder, "locks", "tool");
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it("admits one holder at a time and leaves nothing behind", async () => {
    let working = 0;
    let most = 0;
    const work = async () => {
      most = Math.max(most, ++working);
      await new Promise((resolve) => setTimeout(resolve, 20));
      working--;
    };
    await Promise.all([1, 2, 3].map(() => withLock(lock, () => undefined, work)));
    assert.equal(most, 1);
    assert.deepEqual(await readdir(path.dirname(lock)), []);
  });

  it("is released when the work fails", async () => {
    await assert.rejects(
      withLock(
        lock,
        () => undefined,
        () => Promise.reject(new Error("no")),
      ),
      /no/,
    );
    assert.equal(
      await withLock(
        lock,
        () => undefined,
        () => Promise.resolve(7),
      ),
      7,
    );
  });

  for (const [what, owner] of [
    ["a process that is gone", () => `${spawnSync("true").pid} 1`],
    ["another process that got the same number", () => `${process.pid} 1`],
    ["no one, because the writer was killed", () => ""],
  ] as const) {
    it(`is taken over from ${what}`, async () => {
      await withLock(
        lock,
        () => undefined,
        () => Promise.resolve(),
      );
      await writeFile(lock, owner());
      assert.equal(
        await withLock(
          lock,
          () => undefined,
          () => Promise.resolve("mine"),
        ),
        "mine",
      );
    });
  }
});
