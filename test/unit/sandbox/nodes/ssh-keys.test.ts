import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { utils } from "ssh2";
import { ensureHostKey } from "../../../../sandbox/nodes/ssh-keys";

describe("keys of nodes", () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "foresail-keys-"));
  });

  afterEach(() => rm(folder, { recursive: true }));

  it("are one pair for all concurrent callers", async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => ensureHostKey(folder)));
    const file = path.join(folder, "ssh_host_ed25519_key");
    const key = utils.parseKey(await readFile(file));
    assert.ok(!(key instanceof Error));
    const line = `ssh-ed25519 ${key.getPublicSSH().toString("base64")}`;
    assert.deepEqual(new Set(answers), new Set([line]));
    assert.equal(await ensureHostKey(folder), line);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal((await stat(`${file}.pub`)).mode & 0o777, 0o644);
    assert.deepEqual((await readdir(folder)).sort(), ["ssh_host_ed25519_key", "ssh_host_ed25519_key.pub"]);
  });

  it("can be restored from the private half alone", async () => {
    const first = await ensureHostKey(folder);
    await rm(path.join(folder, "ssh_host_ed25519_key.pub"));
    assert.equal(await ensureHostKey(folder), first);
  });
});
