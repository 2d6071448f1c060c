import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Processes } from "../../../../sandbox/processes";
import { choosePython } from "../../../../sandbox/toolchain/python-environment";

describe("background processes of a cloud", () => {
  let folder: string;
  let processes: Processes;

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "foresail-processes-"));
    processes = new Processes(path.join(folder, "processes.json"), path.join(folder, "logs"));
  });

  afterEach(async () => {
    await processes.stop(Object.keys(await processes.recorded()));
    await rm(folder, { recursive: true, force: true });
  });

  const start = (name: string, script: string) =>
    processes.start({
      name,
      command: process.execPath,
      args: ["-e", script],
      environment: process.env,
      folder,
    });

  it("are started once, found by another run, and ended with all that they started", async () => {
    const child = "require('child_process').spawn('sleep', ['60'], { stdio: 'inherit' })";
    await start("one", `${child}; setInterval(() => {}, 1000); console.log('here')`);
    const recorded = await processes.recorded();
    await start("one", "process.exit(1)");
    assert.deepEqual(await processes.recorded(), recorded);
    const other = new Processes(path.join(folder, "processes.json"), path.join(folder, "logs"));
    assert.deepEqual(await other.running(), ["one"]);
    await other.stop(["one"]);
    assert.deepEqual(await other.running(), []);
    assert.deepEqual(await other.recorded(), {});
    const group = recorded["one"]?.pid ?? 0;
    await assert.rejects(readFile(`/proc/${group}/cmdline`));
  });

  it("are left alone when their PID belongs to another process", async () => {
    const other = spawn("sleep", ["60"]);
    await once(other, "spawn");
    const record = { one: { pid: other.pid, began: "1" } };
    await writeFile(path.join(folder, "processes.json"), JSON.stringify(record));
    assert.deepEqual(await processes.running(), []);
    await processes.stop(["one"]);
    assert.equal(other.exitCode ?? other.signalCode, null);
    other.kill("SIGKILL");
  });

  it("leave their last output", async () => {
    await start("one", "console.error('it went wrong')");
    await untilGone();
    assert.match(await processes.tail("one"), /one\.out:\nit went wrong/);
    assert.equal((await stat(path.join(folder, "processes.json"))).mode & 0o777, 0o600);
  });

  async function untilGone(): Promise<void> {
    while ((await processes.running()).length > 0) await new Promise(setImmediate);
  }
});

describe("the Python for OpenStack", () => {
  it("is the first of a version that its packages were released for", () => {
    const found = new Map([
      ["/usr/local/bin/python3", "3.14"],
      ["/usr/bin/python3.11", "3.11"],
      ["/usr/bin/python3", "3.10"],
    ]);
    assert.equal(choosePython(found), "/usr/bin/python3.11");
  });

  it("is requested with a message when it is missing", () => {
    assert.throws(() => choosePython(new Map()), /there is no python3; install it, .*python3-venv/);
    assert.throws(() => choosePython(new Map([["python3", "3.9"]])), /python3 is 3\.9/);
  });
});
