import assert from "node:assert/strict";
import { createServer } from "node:net";
import { PassThrough, Readable, Writable } from "node:stream";
import { afterEach, describe, it } from "mocha";
import {
  AuthenticationRefused,
  UnreadableKey,
  HostKeyMismatch,
  scanHostKey,
  SshCommandError,
  SshCommandTimeout,
  SshConnection,
  SshConnectionLost,
  SshPool,
  type SshTarget,
  SshUnreachable,
} from "../../../../lib/ssh";
import { newKey, type OnCommand, TestSshServer } from "../../../support/ssh-server";

describe("SSH", () => {
  const closing: (() => void | Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function server(onCommand?: OnCommand): Promise<TestSshServer> {
    const started = await new TestSshServer(onCommand).listen();
    closing.push(() => started.close());
    return started;
  }

  async function open(target: SshTarget, seconds = 10): Promise<SshConnection> {
    const connection = await SshConnection.open(target, { seconds });
    closing.push(() => connection.close());
    return connection;
  }

  it("returns what a command printed on both streams", async () => {
    const connection = await open((await server()).target());
    const output = await connection.run("cat; echo bad >&2", { name: "echo", stdin: "göod", seconds: 10 });
    assert.deepEqual(output, { stdout: "göod", stderr: "bad\n" });
  });

  it("puts exit code, step, machine and the last 20 lines of stderr into the error", async () => {
    const connection = await open((await server()).target());
    const running = connection.run("echo out; seq 1 30 >&2; exit 7", { name: "prepare w-1", seconds: 10 });
    await assert.rejects(running, (error: SshCommandError) => {
      assert.ok(error instanceof SshCommandError);
      assert.equal(error.exitCode, 7);
      assert.match(error.message, /^w-1: "prepare w-1" failed with exit code 7:\n11\n/);
      assert.equal(error.message.split("\n").length, 21);
      return true;
    });
  });

  for (const [stream, command] of [
    ["its output", "yes"],
    ["its errors", "yes >&2"],
  ] as const)
    it(`ends a command that prints without end on ${stream}`, async () => {
      const connection = await open((await server()).target());
      const before = process.memoryUsage().rss;
      await assert.rejects(
        connection.run(command, { name: "flood", seconds: 30 }),
        /: "flood" printed more than 16 MiB and was ended/,
      );
      const mebibytes = (process.memoryUsage().rss - before) / 2 ** 20;
      assert.ok(mebibytes < 300, `${mebibytes} MiB more`);
      assert.equal((await connection.run("echo still", { name: "next", seconds: 5 })).stdout, "still\n");
    });

  it("passes a long answer on as fast as it is read, and keeps what came before it", async () => {
    const connection = await open((await server()).target());
    const marker = "# answer";
    let bytes = 0;
    let most = 0;
    const sink = new Writable({
      highWaterMark: 2 ** 16,
      write(chunk: Buffer, _encoding, done) {
        bytes += chunk.length;
        most = Math.max(most, sink.writableLength);
        // slower than the machine
        setTimeout(done, 2);
      },
    });
    const command = `echo hello; printf '\n%s\n' '${marker}'; head -c 20000000 /dev/zero | tr '\\0' x`;
    const output = await connection.run(command, { name: "long", marker, sink, seconds: 60 });
    assert.deepEqual(output, { stdout: "", stderr: "" });
    await new Promise<void>((resolve) => sink.end(resolve));
    assert.equal(bytes, 20_000_000);
    assert.ok(most < 8 * 2 ** 20, `${most} bytes were kept at once`);
  });

  it("says what a command that answers nothing printed, also when its answer was to be passed on", async () => {
    const connection = await open((await server()).target());
    const sink = new PassThrough();
    const running = connection.run("echo greeting; exit 3", { name: "x", marker: "# no", sink, seconds: 10 });
    await assert.rejects(running, /did not run: the login ended with exit code 3:\ngreeting/);
    assert.equal(sink.readableLength, 0);
  });

  it("writes a stream after the standard input, and fails with the stream", async () => {
    const connection = await open((await server()).target());
    const read = (input: Readable) =>
      connection.run("cat | wc -c", { name: "x", stdin: "12345", input, seconds: 30 });
    const chunks = Array.from({ length: 40 }, () => Buffer.alloc(100_000));
    assert.equal((await read(Readable.from(chunks))).stdout.trim(), "4000005");
    const failing = new Readable({ read: () => void failing.destroy(new Error("no disk")) });
    await assert.rejects(read(failing), /no disk/);
  });

  it("names the signal that ended a command", async () => {
    const connection = await open((await server()).target());
    await assert.rejects(
      connection.run("kill -9 $$", { name: "x", seconds: 10 }),
      /: "x" was ended by SIGKILL/,
    );
  });

  it("does not fail when a command ends without reading its standard input", async () => {
    const connection = await open((await server()).target());
    const stdin = "x".repeat(300_000);
    assert.equal((await connection.run("echo done", { name: "x", stdin, seconds: 10 })).stdout, "done\n");
  });

  it("refuses another host key at once, and names both keys", async () => {
    const other = newKey().public;
    const target = (await server()).target({ hostKey: other });
    await assert.rejects(SshConnection.open(target, { seconds: 60 }), (error: HostKeyMismatch) => {
      assert.ok(error instanceof HostKeyMismatch);
      assert.ok(error.message.includes(other) && error.message.includes("console"));
      return true;
    });
  });

  it("refuses at once when the server has no key of the pinned type", async () => {
    const target = (await server()).target({ hostKey: "ssh-rsa AAAAB3NzaC1yc2E=" });
    await assert.rejects(SshConnection.open(target, { seconds: 60 }), HostKeyMismatch);
  });

  it("fails at once when the key is refused, without showing it", async () => {
    const { private: privateKey } = newKey();
    const target = (await server()).target({ privateKey });
    await assert.rejects(SshConnection.open(target, { seconds: 60 }), (error: Error) => {
      assert.ok(error instanceof AuthenticationRefused);
      assert.match(error.message, /w-1 \(root@127\.0\.0\.1:\d+\) refused to log in root.*authorized_keys/);
      assert.ok(!error.message.includes("PRIVATE"));
      return true;
    });
  });

  it("says that a key is unreadable, or missing, without dialing on", async () => {
    const target = (await server()).target();
    const opening = SshConnection.open({ ...target, privateKey: "garbage" }, { seconds: 60 });
    await assert.rejects(opening, (error: Error) => {
      assert.ok(error instanceof UnreadableKey);
      assert.match(error.message, /^w-1 .*: its private key can't be read: .*format/);
      assert.ok(!/refused|authorized_keys|garbage/.test(error.message));
      return true;
    });
    const without = SshConnection.open({ ...target, privateKey: undefined }, { seconds: 60 });
    await assert.rejects(without, /neither a private key nor an SSH agent/);
  });

  it("dials again until the machine has booted", async () => {
    const late = new TestSshServer();
    const ref = await new Promise<number>((resolve) => {
      const probe = createServer().listen(0, "127.0.0.1", () => {
        const { port } = probe.address() as { port: number };
        probe.close(() => resolve(port));
      });
    });
    closing.push(() => late.close());
    setTimeout(() => void late.listen(ref), 400);
    const lines: string[] = [];
    const target = { ...late.userKey, name: "w-1", address: "127.0.0.1", port: ref, user: "root" };
    const connection = await SshConnection.open(
      { ...target, privateKey: late.userKey.private, hostKey: late.hostKey.public },
      { seconds: 10, progress: (line) => lines.push(line) },
    );
    connection.close();
    assert.match(lines[0]!, /waiting for SSH on w-1 .*, last saw connection refused/);
  });

  it("names the machine and the last reason when it can't be reached", async () => {
    const silent = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
    closing.push(() => void silent.close());
    await new Promise((resolve) => silent.once("listening", resolve));
    const { port } = silent.address() as { port: number };
    const target = { ...(await server()).target(), port };
    await assert.rejects(SshConnection.open(target, { seconds: 0.5 }), (error: SshUnreachable) => {
      assert.ok(error instanceof SshUnreachable);
      assert.match(error.message, /w-1 .* could not be reached over SSH within 0\.5 s, last: .+firewall/);
      return true;
    });
  });

  it("connects through a jump host, whose host key is pinned too", async () => {
    const jump = await server();
    const machine = await server();
    const jumpHost = jump.target({ name: "bastion" });
    const connection = await open(machine.target({ jumpHost }));
    assert.equal((await connection.run("echo through", { name: "x", seconds: 10 })).stdout, "through\n");
    assert.equal(jump.tunnels, 1);
    const wrong = machine.target({ jumpHost: { ...jumpHost, hostKey: newKey().public } });
    await assert.rejects(SshConnection.open(wrong, { seconds: 60 }), /bastion .* shows the host key/);
  });

  it("says that the outcome is unknown when the connection breaks in the middle of a command", async () => {
    const broken = await server((_command, _channel, connection) => void connection.end());
    const connection = await open(broken.target());
    await assert.rejects(connection.run("x", { name: "join-worker w-1", seconds: 10 }), (error) => {
      assert.ok(error instanceof SshConnectionLost);
      assert.ok(error.started);
      assert.match(error.message, /during "join-worker w-1".*unknown/);
      return true;
    });
    await assert.rejects(connection.run("x", { name: "next", seconds: 10 }), { started: false });
  });

  it("ends a command at its deadline, and when aborted", async () => {
    const connection = await open((await server()).target());
    const slow = connection.run("echo busy >&2; sleep 4", { name: "slow", seconds: 1.5 });
    await assert.rejects(
      slow,
      (error: Error) => error instanceof SshCommandTimeout && /busy/.test(error.message),
    );
    const abort = new AbortController();
    setTimeout(() => abort.abort(new Error("engine gone")), 50);
    await assert.rejects(
      connection.run("sleep 2", { name: "x", seconds: 9, signal: abort.signal }),
      /engine gone/,
    );
  });

  it("shares one connection per machine, and reopens a lost one", async () => {
    const machine = await server();
    const pool = new SshPool({ seconds: 10 });
    closing.push(() => pool.close());
    const [one, other] = await Promise.all([
      pool.connection(machine.target()),
      pool.connection(machine.target()),
    ]);
    assert.equal(one, other);
    for (const connection of machine.connections) connection.end();
    while (!one.closed) await new Promise((resolve) => setTimeout(resolve, 5));
    const again = await pool.connection(machine.target());
    assert.equal((await again.run("echo again", { name: "x", seconds: 5 })).stdout, "again\n");
    assert.equal(machine.logins, 2);
  });

  it("reads the host key at first contact without logging in", async () => {
    const machine = await server();
    const jump = await server();
    const { hostKey: _, ...target } = machine.target({ jumpHost: jump.target({ name: "bastion" }) });
    assert.equal(await scanHostKey(target, 10), machine.hostKey.public);
    assert.equal(machine.logins, 0);
  });
});
