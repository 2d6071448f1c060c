import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { eventually, fixture, REMOTE } from "./fixture.js";

describe("command plugin: remote command", function () {
  this.timeout(20_000);
  const host = fixture({ acceptsVariable: (name) => name !== "REFUSED" });

  const ran = (): string[] => host.server.commands.map(({ command }) => command);

  it("runs create and returns its output without the last newline", async () => {
    const { id, outputs } = await host.plugin.create(REMOTE, {
      connection: host.connection(),
      create: "echo out; echo more; echo err >&2",
    });
    assert.equal(outputs["stdout"], "out\nmore");
    assert.equal(outputs["stderr"], "err");
    assert.equal(outputs["create"], "echo out; echo more; echo err >&2");
    assert.match(id, /[0-9a-f]{8}$/);
    assert.equal(host.server.logins.at(-1), "tester");
  });

  it("transfers large output and large input completely", async () => {
    const stdin = "0123456789abcdef".repeat(256 * 1024);
    const { outputs } = await host.plugin.create(REMOTE, {
      connection: host.connection(),
      create: "wc -c; head -c 3000000 /dev/zero | tr '\\0' x",
      stdin,
      logging: "none",
    });
    const [count, rest] = (outputs["stdout"] as string).split("\n");
    assert.equal(count?.trim(), String(stdin.length));
    assert.equal(rest?.length, 3_000_000);
  });

  it("connects to nothing when there is no create", async () => {
    const before = host.server.logins.length;
    const { outputs } = await host.plugin.create(REMOTE, { connection: host.connection() });
    assert.equal(outputs["stdout"], "");
    assert.equal(host.server.logins.length, before);
  });

  it("runs update on update, and create again where there is no update", async () => {
    const connection = host.connection();
    const { outputs } = await host.plugin.create(REMOTE, { connection, create: "echo made" });
    const updated = await host.plugin.update(REMOTE, outputs, {
      connection,
      create: "echo made",
      update: "echo updated",
    });
    assert.equal(updated["stdout"], "updated");
    const again = await host.plugin.update(REMOTE, updated, { connection, create: "echo made again" });
    assert.equal(again["stdout"], "made again");
  });

  it("runs delete, and nothing where there is no delete", async () => {
    const connection = host.connection();
    const kept = await host.plugin.create(REMOTE, { connection, create: "echo kept" });
    const before = ran().length;
    await host.plugin.delete(REMOTE, kept.outputs);
    assert.equal(ran().length, before);
    const removed = await host.plugin.create(REMOTE, {
      connection,
      create: "true",
      delete: "echo gone > gone.txt",
    });
    await host.plugin.delete(REMOTE, removed.outputs);
    assert.equal(readFileSync(path.join(host.directory, "gone.txt"), "utf8"), "gone\n");
  });

  it("sets the environment, and the output of the previous run unless that is disabled", async () => {
    const show = "echo $GREETING-$PULUMI_COMMAND_STDOUT-$PULUMI_COMMAND_STDERR";
    const given = {
      connection: host.connection(),
      create: "echo first; echo oops >&2",
      environment: { GREETING: "hi" },
    };
    const { outputs } = await host.plugin.create(REMOTE, given);
    const updated = await host.plugin.update(REMOTE, outputs, { ...given, update: show });
    assert.equal(updated["stdout"], "hi-first-oops");
    const without = await host.plugin.update(REMOTE, outputs, {
      ...given,
      update: show,
      addPreviousOutputInEnv: false,
    });
    assert.equal(without["stdout"], "hi--");
  });

  it("fails when the server refuses a variable, and runs nothing", async () => {
    const before = ran().length;
    const given = { connection: host.connection(), create: "true", environment: { REFUSED: "x" } };
    await assert.rejects(host.plugin.create(REMOTE, given), /could not set environment variable "REFUSED"/);
    assert.equal(ran().length, before);
  });

  it("passes standard input, and an empty one where there is none", async () => {
    const connection = host.connection();
    const { outputs } = await host.plugin.create(REMOTE, {
      connection,
      create: "cat",
      stdin: "line 1\nline 2 ü",
    });
    assert.equal(outputs["stdout"], "line 1\nline 2 ü");
    const empty = await host.plugin.create(REMOTE, { connection, create: "cat; echo end" });
    assert.equal(empty.outputs["stdout"], "end");
  });

  it("accepts a command that reads none of its input", async () => {
    const given = { connection: host.connection(), create: "exit 0", stdin: "x".repeat(1_000_000) };
    assert.equal((await host.plugin.create(REMOTE, given)).outputs["stdout"], "");
  });

  it("fails with exit status, command and both outputs", async () => {
    const create = "echo before; echo 'the disk is full' >&2; exit 7";
    await assert.rejects(
      host.plugin.create(REMOTE, { connection: host.connection(), create }),
      (error: Error) => {
        assert.match(error.message, /exited with status 7|exit status 7/);
        assert.match(error.message, /running "echo before;/);
        assert.match(error.message, /before\n/);
        assert.match(error.message, /the disk is full/);
        return true;
      },
    );
  });

  it("fails when the command is killed by a signal", async () => {
    const given = { connection: host.connection(), create: "kill -TERM $$" };
    await assert.rejects(host.plugin.create(REMOTE, given), /signal (SIG)?TERM/);
  });

  it("logs the streams that logging names, line by line", async () => {
    const create = (mark: string): string => `echo out-${mark}; echo err-${mark} >&2`;
    const run = (mark: string, logging: string | null): Promise<unknown> =>
      host.plugin.create(REMOTE, { connection: host.connection(), create: create(mark), logging });
    await run("none", "none");
    await run("stdout", "stdout");
    await run("stderr", "stderr");
    await run("both", "stdoutAndStderr");
    await run("default", null);
    const logged = (line: string): boolean => host.plugin.logs.some(({ message }) => message === line);
    await eventually("the last lines are logged", () => logged("out-default") && logged("err-default"));
    const marks = ["none", "stdout", "stderr", "both", "default"];
    assert.deepEqual(
      marks.filter((mark) => logged(`out-${mark}`)),
      ["stdout", "both", "default"],
    );
    assert.deepEqual(
      marks.filter((mark) => logged(`err-${mark}`)),
      ["stderr", "both", "default"],
    );
    const line = host.plugin.logs.find(({ message }) => message === "out-default");
    assert.equal(line?.transient, true);
    assert.match(line.urn, /command:remote:Command::step$/);
  });

  it("closes its connection after each operation", async () => {
    await host.plugin.create(REMOTE, { connection: host.connection(), create: "true" });
    await eventually("no connection is open", () => host.server.open === 0);
  });
});
