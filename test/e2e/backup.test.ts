import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { containerNodeSettings } from "../../sandbox/nodes";
import { TestCluster } from "../cluster/test-cluster";

// for work on these tests: continues with the cluster of the last run, and keeps it
const KEEP = process.env.FORESAIL_TEST_KEEP === "1";
const MACHINES = ["cp-1", "w-1"];
const ROLLOUT = "backup-rollout";

describe("snapshots of etcd before control planes change", () => {
  let cluster: TestCluster;
  let base: string;
  let folder: string;
  let identity: string;
  let recipient: string;

  before(async () => {
    base = await mkdtemp(path.join(tmpdir(), "foresail-backup-"));
    folder = path.join(base, "snapshots");
    identity = path.join(base, "key.txt");
    const age = await import("age-encryption");
    const key = await age.generateIdentity();
    recipient = await age.identityToRecipient(key);
    await writeFile(identity, `# for a test\n${key}\n`, { mode: 0o600 });
    cluster = await TestCluster.open("backup", { keep: KEEP });
    await cluster.configure({ machines: MACHINES });
    await cluster.up();
  });

  after(async () => {
    const opened = cluster as TestCluster | undefined;
    if (!KEEP) await opened?.remove();
    await rm(base, { recursive: true, force: true });
  });

  const configure = (maxPods?: number) =>
    cluster.configure({
      machines: MACHINES,
      fields: {
        backup: { folder, recipients: [recipient], keep: 2 },
        ...(maxPods === undefined ? {} : { kubelet: { ...containerNodeSettings.kubelet, maxPods } }),
      },
    });
  const maxPodsOf = (machine: string) =>
    cluster.onMachine(machine, "sed -n 's/^maxPods: //p' /var/lib/kubelet/config.yaml");

  it("are recorded without a step on any machine, and then the preview is empty", async () => {
    await configure();
    const first = await cluster.preview();
    assert.deepEqual(first.changes, [{ name: ROLLOUT, operation: "update" }]);
    assert.deepEqual(first.steps, {});
    await cluster.up();
    assert.deepEqual((await cluster.preview()).changes, []);
    await assert.rejects(readdir(folder), /ENOENT/);
  });

  it("are listed before the control plane, verified, encrypted, and leave nothing on the machine", async () => {
    await configure(99);
    const lines = (await cluster.preview()).steps[ROLLOUT] ?? [];
    const at = lines.findIndex((line) => line.startsWith("cp-1: configuration "));
    assert.equal(
      lines[at - 1],
      `cp-1: snapshot etcd to ${folder}, encrypted for 1 recipient; the newest 2 stay there`,
    );
    const output = await cluster.up();
    assert.match(
      output,
      /cp-1: etcd at revision \d+ \(hash [0-9a-f]+, \d+ keys, \d+ MiB\) is kept as backup-\d{8}T\d{6}Z\.age/,
    );
    assert.equal((await maxPodsOf("cp-1")).trim(), "99");
    assert.deepEqual((await cluster.preview()).changes, []);
    const [snapshot = "", description = ""] = (await readdir(folder)).sort();
    assert.match(snapshot, /^backup-\d{8}T\d{6}Z\.age$/);
    assert.equal(description, snapshot.replace("age", "json"));
    const bytes = await readFile(path.join(folder, snapshot));
    assert.ok(bytes.subarray(0, 22).equals(Buffer.from("age-encryption.org/v1\n")));
    assert.equal(await cluster.onMachine("cp-1", "ls -d /var/lib/foresail/snapshot 2>/dev/null || true"), "");
    assert.equal(await cluster.onMachine("cp-1", "mount | grep -c foresail-etcd || true"), "0\n");
  });

  it("are listed and checked by the command line, and the oldest ones go", async () => {
    for (let count = 0; count < 2; count++) {
      const { exitCode, stderr } = await cluster.foresail("backup", "now");
      assert.equal(exitCode, 0, stderr);
    }
    const listed = await cluster.foresail("backup", "list", "--output", "json");
    const { snapshots } = JSON.parse(listed.stdout) as { snapshots: { file: string; revision: number }[] };
    assert.equal(snapshots.length, 2);
    assert.ok((snapshots[0]?.revision ?? 0) >= (snapshots[1]?.revision ?? Infinity));
    const read = await cluster.foresail("backup", "verify", "--identity", identity);
    assert.equal(read.exitCode, 0, read.stdout + read.stderr);
    assert.match(read.stdout, /complete, and etcd's digest fits/);
    const file = path.join(folder, snapshots[1]?.file ?? "");
    const bytes = await readFile(file);
    bytes[bytes.length - 100] = (bytes[bytes.length - 100] ?? 0) ^ 1;
    await writeFile(file, bytes);
    const damaged = await cluster.foresail("backup", "verify", "--file", snapshots[1]?.file ?? "");
    assert.equal(damaged.exitCode, 1);
    assert.match(damaged.stdout, /damaged: its SHA-256/);
  });

  it("stop the rollout when they fail, before a control plane changes; the next run continues", async () => {
    await rm(folder, { recursive: true });
    await writeFile(folder, "not a folder");
    await configure(98);
    const output = await cluster.failingUp();
    assert.match(
      output,
      /cp-1: no snapshot of etcd, so no control plane changes: can't write a snapshot into/,
    );
    assert.equal((await maxPodsOf("cp-1")).trim(), "99");
    await rm(folder);
    await cluster.up();
    assert.equal((await maxPodsOf("cp-1")).trim(), "98");
    assert.equal((await readdir(folder)).length, 2);
    assert.deepEqual((await cluster.preview()).changes, []);
  });
});
