import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import { Empty } from "google-protobuf/google/protobuf/empty_pb.js";
import { eventually, fixture, LOCAL } from "./fixture.js";
import { isReplacement, PluginProcess } from "./plugin-process.js";

describe("command plugin: local command", function () {
  this.timeout(20_000);
  const host = fixture();

  it("runs in the given folder, with environment and input, in /bin/sh", async () => {
    const { outputs } = await host.plugin.create(LOCAL, {
      create: 'pwd; echo "$WORD"; cat; echo oops >&2',
      dir: host.directory,
      environment: { WORD: "hi" },
      stdin: "in\n",
    });
    assert.equal(outputs["stdout"], `${host.directory}\nhi\nin`);
    assert.equal(outputs["stderr"], "oops");
  });

  it("runs the given interpreter", async () => {
    const { outputs } = await host.plugin.create(LOCAL, {
      create: "console.log(6 * 7)",
      interpreter: [process.execPath, "-e"],
    });
    assert.equal(outputs["stdout"], "42");
  });

  it("updates with update or create, and deletes with the earlier output", async () => {
    const { outputs } = await host.plugin.create(LOCAL, { create: "echo one" });
    const updated = await host.plugin.update(LOCAL, outputs, {
      create: "echo one",
      update: 'echo "$PULUMI_COMMAND_STDOUT again"',
    });
    assert.equal(updated["stdout"], "one again");
    const last = await host.plugin.update(LOCAL, updated, {
      create: "echo last",
      delete: 'touch "$PULUMI_COMMAND_STDOUT.gone"',
      dir: host.directory,
    });
    await host.plugin.delete(LOCAL, last);
    assert.ok(existsSync(path.join(host.directory, "last.gone")));
  });

  it("fails with exit status and output, and when it cannot start", async () => {
    await assert.rejects(
      host.plugin.create(LOCAL, { create: "echo why >&2; exit 3" }),
      /exit status 3.*why/s,
    );
    await assert.rejects(
      host.plugin.create(LOCAL, { create: "x", interpreter: ["/no/such/program"] }),
      /no such file|ENOENT/i,
    );
  });

  it("is killed when the engine cancels", async () => {
    const plugin = await PluginProcess.start();
    try {
      const pending = plugin.create(LOCAL, { create: "echo started; exec sleep 60" });
      pending.catch(() => undefined);
      await eventually("the command runs", () => plugin.logs.some(({ message }) => message === "started"));
      await plugin.call("cancel", new Empty());
      await assert.rejects(pending, /abort|kill/i);
    } finally {
      await plugin.stop();
    }
  });

  it("says that it collects no files", async function () {
    if (!isReplacement) this.skip();
    const { failures } = await host.plugin.check(LOCAL, { create: "x", assetPaths: ["*"] });
    assert.match(failures.join(), /assetPaths: .*does not collect files/);
  });
});
