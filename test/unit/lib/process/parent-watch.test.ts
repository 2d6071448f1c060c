import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, it } from "mocha";
import { type ProcessFacts, readProcess } from "../../../../lib/process/identity";
import {
  assertEngineAlive,
  EngineGone,
  engineProcess,
  engineSignal,
} from "../../../../lib/process/parent-watch";

function family(...commands: string[]): (pid: number) => ProcessFacts | undefined {
  // the first is this process, each next one the parent of the one before
  return (pid) => {
    const command = commands[pid - 10];
    return command === undefined ? undefined : { pid, parent: pid + 1, command, startTime: `t${pid}` };
  };
}

describe("parent watch", () => {
  const table: [name: string, commands: string[], pid: number][] = [
    [
      "finds the engine past launcher and shell",
      ["node", "pulumi-resource-pulumi-nodejs", "sh", "pulumi", "bash"],
      13,
    ],
    ["takes the nearest engine", ["node", "pulumi", "pulumi"], 11],
    ["takes the direct parent when no engine is there", ["node", "mocha", "bash"], 11],
    ["does not take a language host for the engine", ["node", "pulumi-language-nodejs", "bash"], 11],
  ];
  for (const [name, commands, pid] of table) {
    it(name, () => assert.deepEqual(engineProcess(10, family(...commands)), { pid, startTime: `t${pid}` }));
  }

  it("throws, and aborts its signal, once the watched process has died", async () => {
    const child = spawn("sleep", ["30"]);
    const facts = readProcess(child.pid!)!;
    assert.equal(facts.command, "sleep");
    assert.equal(facts.parent, process.pid);
    assertEngineAlive(facts);
    const { signal, stop } = engineSignal(facts);
    child.kill();
    await once(child, "exit");
    assert.throws(() => assertEngineAlive(facts), EngineGone);
    const keepRunning = setTimeout(() => undefined, 5000);
    await once(signal, "abort");
    clearTimeout(keepRunning);
    assert.ok(signal.reason instanceof EngineGone);
    stop();
  });

  it("does not mistake another process with the same PID for the engine", () => {
    assert.throws(
      () => assertEngineAlive({ pid: process.pid, startTime: "earlier" }),
      /process \d+\) is gone/,
    );
  });
});
