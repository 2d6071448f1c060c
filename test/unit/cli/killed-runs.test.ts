import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import path from "node:path";
import { clearDeadLocks, findLocks } from "../../../cli/engine/killed-runs";
import { StackLockedError } from "../../../cli/engine/stack-lock";
import { unlock } from "../../../cli/commands/unlock";

describe("the locks of a file backend", () => {
  let stateFolder: string;
  beforeEach(() => (stateFolder = mkdtempSync(path.join(tmpdir(), "foresail-lock-"))));
  afterEach(() => rmSync(stateFolder, { recursive: true, force: true }));

  const target = () => ({ stateFolder, project: "foresail", stack: "sandbox-ssh" });
  function writeLock(name: string, lock: { pid: number; hostname?: string; timestamp?: string }): string {
    const folder = path.join(stateFolder, ".pulumi/locks/organization/foresail/sandbox-ssh");
    mkdirSync(folder, { recursive: true });
    const file = path.join(folder, `${name}.json`);
    const whole = { username: "ana", hostname: hostname(), timestamp: new Date().toISOString(), ...lock };
    writeFileSync(file, JSON.stringify(whole));
    return file;
  }
  async function deadProcess(): Promise<number> {
    const child = spawn(process.execPath, ["-e", ""]);
    await once(child, "exit");
    return child.pid!;
  }

  it("are none where the backend was never used", async () => {
    assert.deepEqual(await findLocks(target()), []);
    assert.deepEqual(await clearDeadLocks(target()), []);
  });

  it("leave no half-written attributes, which would make the state unreadable", async () => {
    const folder = path.join(stateFolder, ".pulumi/stacks/foresail");
    mkdirSync(folder, { recursive: true });
    const [corrupt, whole, other] = [
      "sandbox-ssh.json.attrs",
      "sandbox-ssh.json.bak.attrs",
      "other.json.attrs",
    ];
    writeFileSync(path.join(folder, corrupt), "");
    writeFileSync(path.join(folder, whole), "{}");
    writeFileSync(path.join(folder, other), "");
    const [line, ...others] = await clearDeadLocks(target());
    assert.match(
      line!,
      /^removed sandbox-ssh\.json\.attrs, which a killed run of sandbox-ssh left incomplete/,
    );
    assert.deepEqual(others, []);
    assert.deepEqual(
      [corrupt, whole, other].map((name) => existsSync(path.join(folder, name))),
      [false, true, true],
    );
  });

  it("are cleared and reported when their process is dead", async () => {
    const pid = await deadProcess();
    const file = writeLock("a", { pid });
    const [line, ...others] = await clearDeadLocks(target());
    assert.deepEqual(others, []);
    assert.match(line!, new RegExp(`cleared the lock of sandbox-ssh: process ${pid} of user ana`));
    assert.equal(existsSync(file), false);
  });

  it("are cleared when a newer process has the PID of the dead one", async () => {
    const file = writeLock("a", { pid: process.pid, timestamp: "2001-02-03T04:05:06Z" });
    await clearDeadLocks(target());
    assert.equal(existsSync(file), false);
  });

  it("remain while their process is alive, and the error names it and says what to do", async () => {
    const file = writeLock("a", { pid: process.pid });
    await assert.rejects(clearDeadLocks(target()), (error: unknown) => {
      assert.ok(error instanceof StackLockedError);
      assert.match(error.message, new RegExp(`process ${process.pid} .*which is alive`));
      assert.match(error.message, /foresail unlock --stack sandbox-ssh \(or: pulumi cancel sandbox-ssh\)/);
      return true;
    });
    assert.equal(existsSync(file), true);
  });

  it("of another host remain until the user consents", async () => {
    const file = writeLock("a", { pid: await deadProcess(), hostname: `not-${hostname()}` });
    await assert.rejects(clearDeadLocks(target()), /another host/);
    const before = process.env["PULUMI_BACKEND_URL"];
    process.env["PULUMI_BACKEND_URL"] = `file://${stateFolder}`;
    try {
      const said: string[] = [];
      const code = await unlock({ stack: "sandbox-ssh", project: "foresail", yes: true }, (line) =>
        said.push(line),
      );
      assert.equal(code, 0);
      assert.match(said.join("\n"), /cleared: .*another host/);
    } finally {
      if (before === undefined) delete process.env["PULUMI_BACKEND_URL"];
      else process.env["PULUMI_BACKEND_URL"] = before;
    }
    assert.equal(existsSync(file), false);
  });
});
