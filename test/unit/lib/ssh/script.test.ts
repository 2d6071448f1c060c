import assert from "node:assert/strict";
import { afterEach, describe, it } from "mocha";
import { runScript, SshCommandError, SshConnection, type SshTarget } from "../../../../lib/ssh";
import { type OnCommand, runLocally, TestSshServer } from "../../../support/ssh-server";

describe("runScript", () => {
  const closing: (() => void | Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function server(onCommand?: OnCommand): Promise<TestSshServer> {
    const started = await new TestSshServer(onCommand).listen();
    closing.push(() => started.close());
    return started;
  }

  async function open(target: SshTarget): Promise<SshConnection> {
    const connection = await SshConnection.open(target, { seconds: 10 });
    closing.push(() => connection.close());
    return connection;
  }

  const script = { operation: "join-worker", machine: "w-1", seconds: 10 };
  const marker = "# foresail: answer of join-worker w-1";

  it("leaves the data to the script's own standard input", async () => {
    const connection = await open((await server()).target());
    const text = 'read -r token\necho "token ${#token}"\ntr a-z A-Z\n# the end';
    const { stdout } = await runScript(connection, { ...script, text, data: "abc\nlast } line\n" });
    assert.equal(stdout, "token 3\nLAST } LINE\n");
  });

  it("never runs data that the script did not read as commands", async () => {
    const connection = await open((await server()).target());
    const output = await runScript(connection, { ...script, text: "echo one", data: "echo two\n" });
    assert.deepEqual(output, { stdout: "one\n", stderr: "" });
    const failing = runScript(connection, { ...script, text: "(exit 3)", data: "echo two >&2\n" });
    await assert.rejects(failing, /failed with exit code 3, without output$/);
  });

  it("shows the operation in the first line, and nothing of it in the command", async () => {
    const seen: string[] = [];
    const recording = await server((command, channel) => {
      channel.on("data", (data: Buffer) => seen.push(command, ...data.toString().split("\n")));
      channel.on("end", () => (channel.write(`\n${marker}\n`), channel.exit(0), channel.close()));
    });
    const connection = await open(recording.target({ user: "ops" }));
    await runScript(connection, { ...script, text: "# foresail: join-worker w-1\ntrue\n", data: "s" });
    assert.deepEqual(seen, [
      "sudo -n bash -s",
      "{",
      "# foresail: join-worker w-1",
      `builtin printf '\\n%s\\n' '${marker}'`,
      "true",
      "exit",
      "}",
      "s",
    ]);
  });

  /** A machine whose login shell or sshd does this with every command. */
  const login = (text: string) => server((command, channel) => runLocally(`${text}\n${command}`, channel));

  for (const [what, greeting] of [
    ["a greeting", "echo 'Welcome to this machine.'"],
    ["a greeting without a line's end", "printf 'Welcome {'"],
    ["warnings", "echo 'setlocale: no such locale' >&2"],
    ["a page of notices", "seq 1 5000"],
  ] as const)
    it(`takes ${what} of the login shell for no part of an answer`, async () => {
      const connection = await open((await login(greeting)).target());
      const { stdout } = await runScript(connection, { ...script, text: `echo '{"member":true}'` });
      assert.equal(stdout, '{"member":true}\n');
    });

  for (const [what, text, words, fix] of [
    [
      "a forced command",
      'echo "Please login as the user debian rather than the user root."; exit 142',
      /did not run: the login ended with exit code 142:\nPlease login as the user debian/,
      /Set the user that the machine names/,
    ],
    [
      "a forced command that succeeds",
      "echo 'rsync only'; exit 0",
      /exit code 0:\nrsync only\n/,
      /forced commands/,
    ],
    [
      "nologin",
      "echo 'This account is currently not available.'; exit 1",
      /not available/,
      /usermod --shell/,
    ],
    ["no words at all", "exit 1", /did not run: .* exit code 1, without output\n/, /login shell of ops/],
    [
      "requiretty",
      "echo 'sudo: sorry, you must have a tty to run sudo' >&2; exit 1",
      /sorry, you must have a tty/,
      /Defaults:ops !requiretty/,
    ],
    [
      "a password for sudo",
      "echo 'sudo: a password is required' >&2; exit 1",
      /a password is required/,
      /ops ALL=\(ALL\) NOPASSWD: ALL/,
    ],
    [
      "an expired password",
      "echo 'WARNING: Your password has expired.' >&2; echo 'Password change required but no TTY available.' >&2; exit 1",
      /password has expired/,
      /passwd ops/,
    ],
    ["no bash", "echo 'sh: 1: bash: not found' >&2; exit 127", /bash: not found/, /Install bash/],
  ] as const)
    it(`says what the machine printed in place of a step, and the fix: ${what}`, async () => {
      const connection = await open((await login(text)).target({ user: "ops" }));
      await assert.rejects(runScript(connection, { ...script, text: "true" }), (error: Error) => {
        assert.ok(error instanceof SshCommandError, error.message);
        assert.match(error.message, words);
        assert.match(error.message, fix);
        return true;
      });
    });

  it("never shows the answer of a step that fails, and redacts what came before it", async () => {
    const connection = await open((await login("echo 'password: hunter2-of-motd'")).target());
    const failing = runScript(connection, { ...script, text: "echo key-of-the-authority; exit 3" });
    await assert.rejects(failing, (error: Error) => {
      assert.match(error.message, /failed with exit code 3:\npassword: \[secret\]$/);
      return true;
    });
    const slow = runScript(connection, {
      ...script,
      text: "echo key-of-the-authority; sleep 5",
      seconds: 1,
    });
    await assert.rejects(slow, (error: Error) => !/key-of-the-authority/.test(error.message));
  });
});
