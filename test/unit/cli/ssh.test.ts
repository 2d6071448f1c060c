import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { attach, type Terminal } from "../../../cli/commands/ssh";
import { SshConnection, SshConnectionLost } from "../../../lib/ssh";
import { type OnCommand, runLocally, TestSshServer } from "../../support/ssh-server";

/** A person's terminal that tests write to and read. */
class TestTerminal {
  readonly raw: boolean[] = [];
  readonly input: PassThrough & { isTTY?: boolean; setRawMode?: (raw: boolean) => void };
  readonly output: PassThrough & { isTTY?: boolean; rows?: number; columns?: number };
  readonly errors = new PassThrough();

  constructor(isPerson: boolean) {
    const setRawMode = (raw: boolean) => void this.raw.push(raw);
    this.input = Object.assign(new PassThrough(), { isTTY: isPerson, setRawMode });
    this.output = Object.assign(new PassThrough(), { isTTY: isPerson, rows: 24, columns: 80 });
  }

  get given(): Terminal {
    return this as unknown as Terminal;
  }

  printed(stream: "output" | "errors" = "output"): string {
    return (this[stream].read() as Buffer | null)?.toString() ?? "";
  }
}

describe("foresail ssh", () => {
  let server: TestSshServer;
  let connection: SshConnection;
  const sizes: string[] = [];

  async function connect(onCommand: OnCommand = runLocally): Promise<void> {
    const onTerminal = ({ rows, cols }: { rows: number; cols: number }) => void sizes.push(`${cols}x${rows}`);
    server = await new TestSshServer(onCommand, { onTerminal }).listen();
    connection = await SshConnection.open(server.target(), { seconds: 10 });
  }

  afterEach(async () => {
    connection.close();
    await server.close();
    sizes.length = 0;
  });

  it("runs a command with what it is given on standard input, and ends with its exit code", async () => {
    await connect();
    const terminal = new TestTerminal(false);
    terminal.input.end("three\n");
    const code = await attach(connection, ["cat;", "echo", "bad", ">&2;", "exit", "3"], terminal.given);
    assert.deepEqual([code, terminal.printed(), terminal.printed("errors")], [3, "three\n", "bad\n"]);
    assert.deepEqual([terminal.raw, sizes], [[], []]);
  });

  it("ends as shells do when a signal ended the command", async () => {
    await connect((_command, channel) => {
      channel.exit("KILL");
      channel.end();
    });
    assert.equal(await attach(connection, ["sleep"], new TestTerminal(false).given), 137);
  });

  it("gives a person a login shell with a terminal of the same size, and the terminal back at the end", async () => {
    await connect((command, channel) => {
      assert.equal(command, "");
      channel.on("data", (data: Buffer) => {
        channel.write(`you typed ${data.toString()}`);
        if (data.toString() !== "exit") return terminal.output.emit("resize");
        channel.exit(0);
        channel.end();
      });
    });
    const terminal = new TestTerminal(true);
    terminal.output.on("resize", () => terminal.input.write("exit"));
    Object.assign(terminal.output, { columns: 120 });
    terminal.input.write("ls");
    assert.equal(await attach(connection, [], terminal.given), 0);
    assert.equal(terminal.printed(), "you typed lsyou typed exit");
    assert.deepEqual(
      [terminal.raw, sizes],
      [
        [true, false],
        ["120x24", "120x24"],
      ],
    );
    assert.equal(terminal.output.listenerCount("resize"), 1);
  });

  it("fails when the machine is gone before the command has ended", async () => {
    await connect((_command, _channel, session) => void session.end());
    await assert.rejects(attach(connection, ["sleep"], new TestTerminal(false).given), SshConnectionLost);
  });

  it("ends when nobody reads what the machine prints any more", async () => {
    await connect((_command, channel) => void channel.write("line\n"));
    const terminal = new TestTerminal(false);
    terminal.output.on("data", () => terminal.output.destroy(Object.assign(new Error(), { code: "EPIPE" })));
    assert.equal(await attach(connection, ["yes"], terminal.given), 141);
  });

  it("gives the terminal back when a signal ends it, though the machine does not answer", async () => {
    await connect((_command, channel) => channel.on("data", () => process.emit("SIGTERM", "SIGTERM")));
    const terminal = new TestTerminal(true);
    terminal.input.write("ls");
    assert.equal(await attach(connection, [], terminal.given), 143);
    assert.deepEqual(terminal.raw, [true, false]);
  });
});
