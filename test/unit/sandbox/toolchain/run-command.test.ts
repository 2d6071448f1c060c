import assert from "node:assert/strict";
import { runCommand } from "../../../../sandbox/toolchain/run-command";

describe("a command of the tool chain", () => {
  const run = (script: string, limits: { minutes: number; silentMinutes?: number }) =>
    runCommand("sh", ["-c", script], limits);

  it("may take long while it prints", async () => {
    const script = "for i in 1 2 3 4 5 6; do echo $i >&2; sleep 0.25; done; echo done";
    assert.equal(await run(script, { minutes: 1, silentMinutes: 0.02 }), "done\n");
  });

  it("is ended when it prints nothing, or takes too long, and the error says so with its last lines", async () => {
    await assert.rejects(run("echo begun >&2; exec sleep 60", { minutes: 1, silentMinutes: 0.01 }), {
      message: /printed nothing for 0\.01 minutes:\nbegun$/,
    });
    await assert.rejects(run("exec sleep 60", { minutes: 0.01 }), /did not end within 0\.01 minutes/);
  });
});
