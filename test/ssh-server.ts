/**
 * A small real SSH server for tests, on 127.0.0.1 and a free port: commands run in a real shell in a folder of the
 * test's (or in a function of the test's), SFTP writes there, and it forwards connections as a jump host does.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type AddressInfo } from "node:net";
import ssh2, {
  type AuthContext,
  type Connection,
  type ParsedKey,
  type ServerChannel,
  type Session,
} from "ssh2";
import { generateKey } from "../lib/ssh/generated-key";
import { serveSftp } from "./ssh-server-sftp.js";

export interface SshServerOptions {
  /** Folder that commands run in; SFTP paths that are not absolute are below it. */
  readonly directory: string;
  /** A login by this password is accepted too; without one only the key of `clientKey` is. */
  readonly password?: string;
  /** Ask for the password by keyboard-interactive instead. */
  readonly askInteractively?: boolean;
  /** Public keys that may log in besides `clientKey`. */
  readonly authorizedKeys?: readonly string[];
  /** Which environment variables are accepted; default: all. */
  readonly acceptsVariable?: (name: string) => boolean;
  /** Runs commands instead of /bin/sh; must call `channel.exit(code)` and `channel.end()`. */
  readonly runs?: (command: string, channel: ServerChannel, environment: Record<string, string>) => void;
  /** A port to listen on; default: a free one. */
  readonly port?: number;
}

/** A command that the server was asked to run. */
interface RanCommand {
  readonly command: string;
  readonly environment: Readonly<Record<string, string>>;
}

export class SshServer {
  /** Commands in the order in which they came. */
  readonly commands: RanCommand[] = [];
  /** Addresses (`host:port`) that were requested through this server as a jump host. */
  readonly forwarded: string[] = [];
  /** Users who logged in, one entry for each connection. */
  readonly logins: string[] = [];
  /** The private key that may log in. */
  readonly clientKey: string;
  /** The server's public key, `ssh-ed25519 AAAA…`. */
  readonly hostKey: string;
  private readonly authorized: readonly ParsedKey[];
  private readonly connections = new Set<Connection>();
  private readonly children = new Set<ReturnType<typeof spawn>>();
  private readonly server: ssh2.Server;

  private constructor(private readonly options: SshServerOptions) {
    const host = generateKey();
    const client = generateKey();
    this.hostKey = host.public.trim();
    this.clientKey = client.private;
    this.authorized = [client.public, ...(options.authorizedKeys ?? [])].map(parsed);
    this.server = new ssh2.Server({ hostKeys: [host.private] }, (connection) => this.serve(connection));
  }

  static async start(options: SshServerOptions): Promise<SshServer> {
    const server = new SshServer(options);
    server.server.listen(options.port ?? 0, "127.0.0.1");
    await once(server.server, "listening");
    return server;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** How many connections are open now. */
  get open(): number {
    return this.connections.size;
  }

  /** Drops every connection, ends the commands it started, and stops listening. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    for (const connection of this.connections) connection.end();
    for (const child of this.children) child.kill("SIGKILL");
    await closed;
  }

  private serve(connection: Connection): void {
    this.connections.add(connection);
    // Missing in @types/ssh2. Small packets answer each other: without it each round trip waits 40 ms.
    (connection as Connection & { setNoDelay(on: boolean): void }).setNoDelay(true);
    connection.on("close", () => this.connections.delete(connection));
    connection.on("error", () => undefined);
    connection.on("authentication", (context) => this.authenticate(context));
    connection.on("session", (accept) => this.serveSession(accept()));
    connection.on("tcpip", (accept, reject, { destIP, destPort }) => {
      this.forwarded.push(`${destIP}:${String(destPort)}`);
      const target = connect(destPort, destIP);
      target.once("error", () => reject());
      target.once("connect", () => {
        const channel = accept();
        target.removeAllListeners("error").on("error", () => channel.end());
        channel.on("error", () => target.destroy());
        channel.pipe(target).pipe(channel);
      });
    });
  }

  private authenticate(context: AuthContext): void {
    const welcome = (): void => {
      this.logins.push(context.username);
      context.accept();
    };
    const { password, askInteractively } = this.options;
    if (context.method === "publickey" && this.knows(context)) {
      if (context.signature === undefined) context.accept();
      else welcome();
    } else if (context.method === "password" && askInteractively !== true && context.password === password) {
      welcome();
    } else if (context.method === "keyboard-interactive" && askInteractively === true) {
      context.prompt([{ prompt: "Password: ", echo: false }], (answers) =>
        answers[0] === password ? welcome() : context.reject(),
      );
    } else {
      context.reject(askInteractively === true ? ["keyboard-interactive"] : ["publickey", "password"]);
    }
  }

  private knows(context: ssh2.PublicKeyAuthContext): boolean {
    const key = this.authorized.find((known) => context.key.data.equals(known.getPublicSSH()));
    if (key === undefined) return false;
    if (context.signature === undefined || context.blob === undefined) return true;
    return key.verify(context.blob, context.signature, context.hashAlgo) === true;
  }

  private serveSession(session: Session): void {
    const environment: Record<string, string> = {};
    session.on("env", (accept, reject, { key, val }: { key: string; val: string }) => {
      const accepted = this.options.acceptsVariable?.(key) ?? true;
      if (accepted) environment[key] = val;
      // Clients that request no response get none.
      const answer = (accepted ? accept : reject) as (() => void) | undefined;
      answer?.();
    });
    session.on("sftp", (accept) => serveSftp(accept(), this.options.directory));
    session.on("exec", (accept, _reject, { command }) => {
      this.commands.push({ command, environment });
      const channel = accept();
      channel.on("error", () => undefined);
      if (this.options.runs !== undefined) this.options.runs(command, channel, environment);
      else this.runInShell(command, channel, environment);
    });
  }

  private runInShell(command: string, channel: ServerChannel, environment: Record<string, string>): void {
    const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", ...environment };
    const child = spawn("/bin/sh", ["-c", command], { cwd: this.options.directory, env });
    this.children.add(child);
    child.stdin.on("error", () => undefined);
    channel.pipe(child.stdin);
    child.stdout.pipe(channel, { end: false });
    child.stderr.pipe(channel.stderr, { end: false });
    child.on("close", (code, signal) => {
      this.children.delete(child);
      if (code === null) channel.exit((signal ?? "KILL").replace(/^SIG/, ""));
      else channel.exit(code);
      channel.end();
    });
  }
}

function parsed(key: string): ParsedKey {
  const result = ssh2.utils.parseKey(key);
  if (result instanceof Error) throw result;
  return result;
}
