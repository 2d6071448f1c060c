import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { engineEnvironment } from "../../../sandbox/engine-environment";
import { changesNothing, countChanges, readableLines } from "../../../sandbox/engine-output";
import { callEngine, type EngineCall, InterruptedError } from "../../../sandbox/engine-process";

const call = (script: string, options: Partial<EngineCall> = {}) =>
  callEngine({
    program: process.execPath,
    args: ["-e", script],
    folder: process.cwd(),
    environment: process.env,
    seconds: 10,
    ...options,
  });

describe("a run of the engine", () => {
  it("passes standard input, and returns both streams and the exit code", async () => {
    const script =
      'process.stdin.on("data", (d) => { process.stdout.write(d); process.stderr.write("e"); process.exitCode = 3; })';
    assert.deepEqual(await call(script, { input: "secret" }), { exitCode: 3, stdout: "secret", stderr: "e" });
  });

  it("passes lines on as they arrive", async () => {
    const lines: string[] = [];
    await call('console.log("a"); console.error("b")', { onLine: (line) => lines.push(line) });
    assert.deepEqual(lines.sort(), ["a", "b"]);
  });

  it("is stopped when its time is up, and says so", async () => {
    await assert.rejects(call("setInterval(() => {}, 1000)", { seconds: 0.3 }), /did not end within 0.3 s/);
  });

  it("gets one interrupt for the two that a terminal and npm send, and ends cleanly", async () => {
    const script =
      'let n = 0; process.on("SIGINT", () => { n += 1; setTimeout(() => { console.log(n); process.exit(0); }, 300); });' +
      'setInterval(() => {}, 1000); console.log("up")';
    const lines: string[] = [];
    const interrupts = new EventEmitter();
    const run = call(script, {
      interrupts,
      onLine: (line) => {
        lines.push(line);
        if (line === "up") for (let i = 0; i < 2; i += 1) interrupts.emit("SIGINT", "SIGINT");
      },
    });
    await assert.rejects(run, InterruptedError);
    assert.deepEqual(lines, ["up", "1"]);
  });

  it("that can't start names the program", async () => {
    await assert.rejects(
      callEngine({ program: "/no/such/pulumi", args: [], folder: "/", environment: {}, seconds: 5 }),
      /\/no\/such\/pulumi cannot be started/,
    );
  });
});

describe("the engine's environment", () => {
  const made = engineEnvironment(
    {
      HOME: "/home",
      PULUMI_ACCESS_TOKEN: "t",
      PULUMI_BACKEND_URL: "https://elsewhere",
      PULUMI_STACK: "prod",
    },
    { PATH: "/cache/bin", PULUMI_HOME: "/cache/home" },
  );

  it("contains nothing that leads to the user's own backend", () => {
    assert.equal(made["PULUMI_ACCESS_TOKEN"], undefined);
    assert.equal(made["PULUMI_STACK"], undefined);
    assert.match(made["PULUMI_BACKEND_URL"] ?? "", /^file:\/\/\/.*\.sandbox\/state$/);
  });

  it("contains the toolchain's programs, and the rest of the user's environment", () => {
    assert.equal(made["PATH"], "/cache/bin");
    assert.equal(made["PULUMI_HOME"], "/cache/home");
    assert.equal(made["HOME"], "/home");
  });
});

describe("the engine's output", () => {
  it("omits noise, repetition and outputs", () => {
    const readable = readableLines();
    const lines = [
      "Updating (sandbox-ssh):",
      "",
      "@ updating....",
      " +  foresail:NodeGroup workers creating (1s) joining w-1",
      " +  foresail:NodeGroup workers creating (1s) joining w-1",
      "Outputs:",
      '    kubeconfig: "plain text"',
      "",
      "Resources:",
      "    + 3 created",
    ];
    assert.deepEqual(lines.map(readable).filter(Boolean), [
      "  Updating (sandbox-ssh):",
      "   +  foresail:NodeGroup workers creating (1s) joining w-1",
      "  Resources:",
      "      + 3 created",
    ]);
  });

  it("reports what was changed, from its last summary", () => {
    const preview = "Resources:\n    + 5 to create\n";
    const up =
      "Resources:\n    + 2 created\n    ~ 1 updated\n    +-1 replaced\n    10 unchanged\n\nDuration: 3s\n";
    assert.deepEqual(countChanges(preview + up), { created: 2, updated: 1, replaced: 1, unchanged: 10 });
  });

  it("says whether a preview changes anything, resources or outputs", () => {
    const nothing = "Previewing update (sandbox-ssh):\nResources:\n    10 unchanged\n";
    assert.equal(changesNothing(nothing), true);
    assert.equal(changesNothing("Resources:\n    + 1 to create\n    10 unchanged\n"), false);
    assert.equal(changesNothing(`Outputs:\n  + nodes: []\n\n${nothing}`), false);
  });
});
