import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import path from "node:path";
import { EXIT } from "../../cli/terminal/exit-codes";
import { projectFolder } from "../../sandbox/paths";
import { desiredCluster } from "./desired-cluster";
import { createSharedOutputs } from "./shared-outputs";
import { simulatedFixture } from "./simulated-fixture";

describe("machines that join, under the engine", () => {
  const fixture = simulatedFixture({ machines: ["cp-1", "w-2"] });
  const want = (machines: string[]) =>
    fixture.stack.configure({ cluster: desiredCluster(fixture.fleet, machines) });

  before(async () => {
    want(["cp-1"]);
    await fixture.stack.up();
  });

  it("refuses a machine in the preview that would lose packages of others, in its own words, and changes nothing", async () => {
    want(["cp-1", "w-2"]);
    const { files } = fixture.fleet;
    const words = "w-2: the installation of containerd would remove these packages: docker-ce";
    const before = fixture.fleet.journal.length;
    files.saveState("w-2", { ...files.state("w-2"), reading: { "refusal.installation": words } });
    const answer = await fixture.stack.call(["preview"]);
    assert.notEqual(answer.exitCode, 0);
    assert.match(
      answer.stdout + answer.stderr,
      /w-2: the installation of containerd would remove these packages: docker-ce/,
    );
    const after = fixture.fleet.journal.slice(before);
    const asked = after.map(({ operation, machine }) => `${operation} ${machine}`);
    assert.ok(asked.includes("machine-reading w-2"));
    const questions = ["machine-reading w-2", "machine-facts w-2"];
    assert.deepEqual(
      asked.filter((each) => !questions.includes(each)),
      [],
    );
    // a machine that does not answer the question is only noted
    files.saveState("w-2", { ...files.state("w-2"), reading: {} });
    fixture.fleet.inject({ operation: "machine-reading", machine: "w-2", kind: "fail", stderr: "no sudo" });
    const noted = await fixture.stack.call(["preview", "--diff"]);
    assert.equal(noted.exitCode, 0, noted.stdout);
    assert.match(
      noted.stdout + noted.stderr,
      /w-2: could not be asked whether it can join; the run asks it first: .*no sudo/,
    );
  });

  it("refuses a machine in the preview whose clock differs, and changes nothing", async () => {
    want(["cp-1", "w-2"]);
    const { files, journal } = fixture.fleet;
    const setClock = (clockOffset: number) => files.saveState("w-2", { ...files.state("w-2"), clockOffset });
    const before = journal.length;
    setClock(-10_800);
    const refused = await fixture.stack.call(["preview"]);
    assert.notEqual(refused.exitCode, 0);
    assert.match(refused.stdout + refused.stderr, /the clock of w-2 is 3 hours behind the clock here/);
    assert.deepEqual(
      journal
        .slice(before)
        .filter(({ operation }) => !["machine-reading", "machine-facts"].includes(operation)),
      [],
    );
    setClock(60);
    const near = await fixture.stack.call(["preview"]);
    assert.equal(near.exitCode, 0, near.stdout);
    assert.doesNotMatch(near.stdout + near.stderr, /clock|keeps/);
  });
});

describe("the first preview of a cluster, under the engine", () => {
  const fixture = simulatedFixture({ machines: ["cp-1", "w-1", "w-2"] });

  it("reads all machines once, names each that can't become a node, and changes nothing", async () => {
    const { files } = fixture.fleet;
    const say = (machine: string, reading: Record<string, string>) =>
      files.saveState(machine, { ...files.state(machine), reading });
    fixture.stack.configure({ cluster: desiredCluster(fixture.fleet, ["cp-1", "w-1", "w-2"]) });
    say("cp-1", { machineId: "0a1b", listening: "tcp 127.0.0.1:2379 etcd", kernel: "6.1.0" });
    say("w-1", { machineId: "ffff", mounts: "/usr 120 90000 ext4 rw", firewalld: "active" });
    say("w-2", { machineId: "0a1b" });
    const refused = await fixture.stack.call(["preview"]);
    const text = refused.stdout + refused.stderr;
    assert.notEqual(refused.exitCode, 0);
    assert.match(text, /cp-1: etcd listens on its port 2379, which etcd needs/);
    assert.match(text, /w-1: \/usr has 120 MiB of free space/);
    assert.match(text, /w-1: firewalld is active on it/);
    assert.match(text, /w-2: it has the machine-id of cp-1/);
    const asked = fixture.fleet.journal.map(({ operation, machine }) => `${operation} ${machine}`).sort();
    const questions = ["machine-facts", "machine-reading"];
    assert.deepEqual(
      asked,
      questions.flatMap((each) => ["cp-1", "w-1", "w-2"].map((machine) => `${each} ${machine}`)).sort(),
    );
    const found = text.match(/(?:cp|w)-\d: (?:etcd|\/usr|it has|firewalld).*/g) ?? [];
    const diagnosis = doctor();
    assert.equal(diagnosis.status, EXIT.blocked, diagnosis.stderr);
    for (const line of found) assert.ok(diagnosis.stdout.includes(line.trim()), line + diagnosis.stdout);
    say("cp-1", { machineId: "0a1b" });
    for (const machine of ["w-1", "w-2"]) say(machine, { machineId: machine, firewalld: "active" });
    const fine = await fixture.stack.call(["preview"]);
    assert.equal(fine.exitCode, 0, fine.stdout);
    assert.match(fine.stdout + fine.stderr, /w-1: firewalld is active on it/);
    const { status, stdout } = doctor("--output", "json");
    assert.equal(status, EXIT.done);
    const { findings } = JSON.parse(stdout) as { findings: { machine: string }[] };
    assert.deepEqual(findings.map(({ machine }) => machine).sort(), ["w-1", "w-2"]);
  });

  it("is refused by `foresail doctor`, too, with a configuration that is wrong, by its path", () => {
    const { status, stderr } = doctor("--to", "1.36.3");
    assert.deepEqual([status, stderr.includes("--stack has its own machines")], [EXIT.usage, true]);
    fixture.stack.configure({ cluster: { ...desiredCluster(fixture.fleet, ["cp-1"]), version: "latest" } });
    const wrong = doctor();
    assert.equal(wrong.status, EXIT.failed);
    assert.match(wrong.stderr, /cluster\.version: "latest" is not a version/);
    assert.doesNotMatch(wrong.stderr, /^\s+at /m);
  });

  it("is made by `foresail doctor`, too, with the outputs of other stacks", async () => {
    const { folder, toolchain } = fixture;
    const { stateFolder } = fixture.stack;
    const outputs = { plain: { version: "1.36.3" }, secret: { user: "s3cret" } };
    await createSharedOutputs({ folder, stateFolder }, toolchain, {
      project: "base",
      stack: "test",
      ...outputs,
    });
    const cluster = desiredCluster(fixture.fleet, ["cp-1"]);
    const want = (shared: string, fields: object) =>
      fixture.stack.configure({ shared: { base: shared }, cluster: { ...cluster, ...fields } });
    want("organization/base/test", { version: "${shared.base.version}" });
    const fine = doctor();
    assert.equal(fine.status, EXIT.done, fine.stderr);
    want("organization/base/test", { ssh: { user: "${shared.base.user}" } });
    const open = doctor();
    assert.equal(open.status, EXIT.failed);
    assert.match(open.stderr, /cluster\.ssh\.user: .* is secret/);
    assert.doesNotMatch(open.stdout + open.stderr, /s3cret/);
    want("organization/base/none", { version: "${shared.base.version}" });
    const missing = doctor();
    assert.equal(missing.status, EXIT.failed);
    assert.match(missing.stderr, /there is no stack organization\/base\/none/);
  });

  function doctor(...more: string[]) {
    const cli = path.join(projectFolder, "bin/cli/cli.js");
    const { environment: env, place } = fixture.stack;
    return spawnSync(process.execPath, [cli, "doctor", "--stack", "test", ...more], {
      ...{ encoding: "utf8", cwd: place.folder, env },
    });
  }
});
