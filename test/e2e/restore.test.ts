import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { projectFolder } from "../../sandbox/paths";
import { etcdAt } from "../cluster/etcd";
import { NAMESPACE } from "../cluster/guarded-deployment";
import { makeServing } from "../cluster/serving-deployment";
import { TestCluster } from "../cluster/test-cluster";

// for work on these tests: continues with the cluster of the last run, and keeps it
const KEEP = process.env.FORESAIL_TEST_KEEP === "1";
const PLANES = ["cp-1", "cp-2", "cp-3"];
const MACHINES = [...PLANES, "w-1"];
const DESTROY = "systemctl stop kubelet; rm -rf /var/lib/etcd/member /etc/kubernetes/*";

describe("a cluster that has lost all of its control planes", () => {
  let cluster: TestCluster;
  let base: string;
  let folder: string;
  let arguments_: string[];

  before(async () => {
    base = await mkdtemp(path.join(tmpdir(), "foresail-restore-"));
    folder = path.join(base, "snapshots");
    const identity = path.join(base, "key.txt");
    const age = await import("age-encryption");
    const key = await age.generateIdentity();
    await writeFile(identity, `${key}\n`, { mode: 0o600 });
    cluster = await TestCluster.open("restore", { keep: KEEP });
    const backup = { folder, recipients: [await age.identityToRecipient(key)] };
    await cluster.configure({ machines: MACHINES, fields: { backup } });
    await cluster.up();
    arguments_ = ["--identity", identity, "--from"];
  });

  after(async () => {
    const opened = cluster as TestCluster | undefined;
    if (!KEEP) await opened?.remove();
    await rm(base, { recursive: true, force: true });
  });

  const mark = (name: string) =>
    cluster.withApi((client) =>
      client.apply(
        { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: NAMESPACE } },
        { force: true },
      ),
    );

  /** Starts the restore, and kills it while the machine restores etcd. */
  const killed = (args: readonly string[]) =>
    new Promise<void>((resolve) => {
      const { folder: cwd, environment } = cluster.upCommand();
      const cli = path.join(projectFolder, "bin/cli/cli.js");
      const child = spawn(process.execPath, [cli, "restore", ...args, "--stack", cluster.stack], {
        ...{ cwd, env: environment },
      });
      child.stdout.on("data", (text: Buffer) => {
        if (text.toString().includes("begins to restore")) setTimeout(() => child.kill("SIGKILL"), 700);
      });
      child.on("exit", () => resolve());
    });

  it("serves again from a snapshot, while the pods of its worker go on; the next up joins the others", async () => {
    const url = await cluster.withApi((client) => makeServing(client, { name: "served", replicas: 1 }));
    await mark("before");
    const now = await cluster.foresail("backup", "now");
    assert.equal(now.exitCode, 0, now.stdout + now.stderr);
    await mark("after");
    const file = path.join(folder, (await readdir(folder)).find((name) => name.endsWith(".age")) ?? "");
    const args = [...arguments_, file];

    const living = await cluster.foresail("restore", ...args, "--yes");
    assert.equal(living.exitCode, 1);
    assert.match(living.stdout, /the API server of cp-1 is ready, so the cluster is not lost/);

    const probe = `while :; do curl -sf -m 2 ${url} >/dev/null && echo ok || echo failed; sleep 0.2; done >/run/probe.log`;
    await cluster.onMachine("w-1", `systemd-run --quiet --unit probe bash -c '${probe}'`);
    for (const name of PLANES) await cluster.onMachine(name, DESTROY);
    const asked = await cluster.foresail("restore", ...args);
    assert.equal(asked.exitCode, 2, asked.stdout + asked.stderr);
    assert.match(asked.stdout, /cp-2: stop its API server and etcd for good/);
    assert.match(asked.stdout, /restore goes back to \S+Z, \d+ \w+ ago: etcd at revision \d+/);

    const gone = await cluster.foresail("restore", ...args, "--gone", "cp-2", "--yes");
    assert.equal(gone.exitCode, 1, gone.stdout + gone.stderr);
    assert.match(gone.stdout, /refused: cp-2 answers, so it is not gone/);

    const begun = Date.now();
    await killed([...args, "--yes"]);
    const restored = await cluster.foresail("restore", ...args, "--yes");
    assert.equal(restored.exitCode, 0, restored.stdout + restored.stderr);
    console.log(`      the API answers ${Math.round((Date.now() - begun) / 1000)} s after the first command`);
    await cluster.withApi(async (client) => {
      const map = (name: string) =>
        client.get({ apiVersion: "v1", kind: "ConfigMap", name, namespace: NAMESPACE });
      assert.ok(await map("before"));
      assert.equal(await map("after"), undefined);
      const names = (await client.listNodes()).map(({ metadata }) => metadata?.name).sort();
      assert.deepEqual(names, ["cp-1", "w-1"]);
    });
    assert.deepEqual((await etcdAt(cluster, "cp-1")).members, ["cp-1"]);

    const joins = (await cluster.preview()).steps["restore-control-plane"] ?? [];
    assert.deepEqual(
      joins.flatMap((line) => /^(cp-\d): .*join as control plane/.exec(line)?.[1] ?? []),
      ["cp-2", "cp-3"],
      joins.join("\n"),
    );
    await cluster.up();
    assert.deepEqual((await cluster.preview()).changes, []);
    const { members, healthy } = await etcdAt(cluster, "cp-1");
    assert.deepEqual(members, PLANES);
    assert.ok(healthy);
    await cluster.check(MACHINES);
    const answers = await cluster.onMachine("w-1", "systemctl stop probe; sort /run/probe.log | uniq -c");
    assert.match(answers, /^\s+\d+ ok\n$/, "the workload answered throughout");
    for (const name of PLANES)
      assert.equal(
        await cluster.onMachine(
          name,
          "ls -d /etc/kubernetes/.foresail-restore /var/lib/foresail/{snapshot,restored} 2>/dev/null || true",
        ),
        "",
      );
  });
});
