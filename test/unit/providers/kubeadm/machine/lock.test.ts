import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { renderShell, shellFile } from "../../../../../providers/kubeadm/machine/shell";

describe("the lock of a machine", () => {
  let root: string;
  const processes: ChildProcess[] = [];

  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), "foresail-lock-"));
    mkdirSync(path.join(root, "run"));
  });
  afterEach(() => {
    for (const process of processes.splice(0)) process.kill("SIGKILL");
    rmSync(root, { recursive: true });
  });

  /** Starts a step that creates a file of this name, then runs until its standard input ends. */
  function step(name: string): ChildProcess {
    const frame = renderShell(shellFile("common/frame"), { OPERATION: name });
    const text = `${frame}\ntouch ${root}/${name}\necho >&4\ncat <&5`.replace(
      /(?<![\w.])\/(etc|run|var)\//g,
      `${root}/$1/`,
    );
    const child = spawn("bash", ["-c", text], { stdio: "pipe" });
    processes.push(child);
    return child;
  }

  const hasRun = (name: string) => existsSync(path.join(root, name));

  async function running(name: string): Promise<ChildProcess> {
    const child = step(name);
    await once(child.stdout!, "data");
    return child;
  }

  /** Starts a step and waits until it has told its caller once that it waits. */
  async function waiting(name: string): Promise<ChildProcess> {
    const child = step(name);
    await once(child.stderr!, "data");
    return child;
  }

  it("lets a step run after the one before it, and prints nothing but blank lines meanwhile", async () => {
    const before = await running("before");
    const after = step("after");
    let words = "";
    after.stderr!.on("data", (chunk: Buffer) => (words += chunk.toString()));
    await once(after.stderr!, "data");
    before.stdin!.end();
    after.stdin!.end();
    assert.deepEqual(await once(after, "exit"), [0, null]);
    assert.ok(hasRun("after"));
    assert.equal(words.trim(), "");
  });

  it("never runs a step whose caller has gone while it waited", async () => {
    const before = await running("before");
    const abandoned = await waiting("abandoned");
    abandoned.stderr!.destroy();
    await once(abandoned, "exit");
    before.stdin!.end();
    await once(before, "exit");
    assert.equal(hasRun("abandoned"), false);
  });
});
