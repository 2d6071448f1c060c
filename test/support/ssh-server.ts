import { spawn } from "node:child_process";
import { connect, type AddressInfo } from "node:net";
import { type Algorithms, type Connection, Server, type ServerChannel, utils } from "ssh2";
import type { SshTarget } from "../../lib/ssh";
import { generateKey } from "../../lib/ssh/generated-key";
import { parseScript } from "../simulation/received-script";

/** A pair of ed25519 keys: the private one as OpenSSH text, the public one as "ssh-ed25519 AAAA…". */
export function newKey(): { private: string; public: string } {
  const pair = generateKey();
  return { private: pair.private, public: pair.public.split(" ").slice(0, 2).join(" ") };
}

/** What the server does with a command; the default runs it in a local bash. */
export type OnCommand = (command: string, channel: ServerChannel, connection: Connection) => void;

/** What a server has other than ours by default. */
interface ServerOptions {
  algorithms?: Algorithms;
  /** a key of another type than ed25519 */
  hostKey?: { private: string; public: string };
  userKey?: { private: string; public: string };
  onConnection?: (connection: Connection) => void;
  /** takes the size of a person's terminal, first and when it changes */
  onTerminal?: (size: { rows: number; cols: number }) => void;
}

/** An SSH server on 127.0.0.1 for tests, which accepts one key and forwards tunnels. */
export class TestSshServer {
  readonly hostKey: { private: string; public: string };
  readonly userKey: { private: string; public: string };
  readonly connections = new Set<Connection>();
  logins = 0;
  tunnels = 0;
  private readonly server: Server;

  constructor(onCommand: OnCommand = runLocally, options: ServerOptions = {}) {
    const { algorithms, hostKey = newKey(), userKey = newKey(), onConnection } = options;
    [this.hostKey, this.userKey] = [hostKey, userKey];
    this.server = new Server({ hostKeys: [hostKey.private], algorithms }, (connection) => {
      onConnection?.(connection);
      this.connections.add(connection);
      // it is missing in the type declarations
      (connection as unknown as { setNoDelay(on: boolean): void }).setNoDelay(true);
      connection.on("error", () => undefined);
      connection.on("close", () => this.connections.delete(connection));
      connection.on("authentication", (context) => {
        const key = utils.parseKey(this.userKey.public);
        if (context.method !== "publickey" || key instanceof Error) return context.reject(["publickey"]);
        if (!context.key.data.equals(key.getPublicSSH())) return context.reject(["publickey"]);
        context.accept();
      });
      connection.on("ready", () => (this.logins += 1));
      connection.on("session", (accept) => {
        const session = accept();
        session.on("exec", (acceptCommand, _reject, { command }) =>
          onCommand(command, acceptCommand(), connection),
        );
        session.on("shell", (acceptShell) => onCommand("", acceptShell(), connection));
        for (const request of ["pty", "window-change"] as const)
          session.on(
            request,
            (
              acceptRequest: (() => void) | undefined,
              _reject: unknown,
              size: { rows: number; cols: number },
            ) => {
              options.onTerminal?.(size);
              acceptRequest?.();
            },
          );
      });
      connection.on("tcpip", (accept, reject, { destIP, destPort }) => {
        const socket = connect(destPort, destIP);
        socket.on("error", () => reject());
        socket.on("connect", () => {
          this.tunnels += 1;
          const channel = accept();
          channel.on("error", () => socket.destroy());
          channel.pipe(socket).pipe(channel);
        });
      });
    });
  }

  async listen(port = 0): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(port, "127.0.0.1", resolve));
    return this;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  target(changes: Partial<SshTarget> = {}): SshTarget {
    const { private: privateKey } = this.userKey;
    const hostKey = this.hostKey.public;
    return {
      name: "w-1",
      address: "127.0.0.1",
      port: this.port,
      user: "root",
      privateKey,
      hostKey,
      ...changes,
    };
  }

  async close(): Promise<void> {
    for (const connection of this.connections) connection.end();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }
}

/** Answers each step instead of running it: with an answer, or with an exit code. */
export function answerSteps(answer: (operation: string) => string | number): OnCommand {
  return (_command, channel) => {
    let stdin = "";
    channel.on("data", (data: Buffer) => (stdin += data.toString()));
    channel.on("end", () => {
      const script = parseScript(stdin);
      const result = answer(script?.operation ?? "");
      channel.write(`\n${script?.marker}\n${typeof result === "string" ? result : ""}`);
      channel.exit(typeof result === "number" ? result : 0);
      channel.end();
    });
  };
}

/** Runs a command in a local bash. */
export function runLocally(command: string, channel: ServerChannel): void {
  const child = spawn("bash", ["-c", command]);
  channel.pipe(child.stdin);
  child.stdin.on("error", () => undefined);
  child.stdout.on("data", (data) => channel.write(data));
  child.stderr.on("data", (data) => channel.stderr.write(data));
  // as sshd closes the pipes of a command whose channel is closed
  channel.on("close", () => [child.stdout, child.stderr].forEach((pipe) => pipe.destroy()));
  child.on("close", (code, signal) => {
    if (signal) channel.exit(signal.replace("SIG", ""));
    else channel.exit(code ?? 255);
    channel.end();
  });
}
