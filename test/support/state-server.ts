import { type ChildProcess, execFile, spawn, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { waitFor } from "../../lib/wait";
import { createReporter } from "../../sandbox/progress";
import { ensureToolchain } from "../../sandbox/toolchain";
import { ensurePackages } from "../../sandbox/toolchain/packages";
import { freePorts } from "../simulation/bare-api-server";

const run = promisify(execFile);
const SECONDS = 60;
const SECRET = "state-server:secret/1";

/** A server of this machine that keeps state for tests. */
export abstract class StateServer {
  protected readonly folder = mkdtempSync(path.join(tmpdir(), "foresail-state-"));
  protected port = 0;
  private child: ChildProcess | undefined;
  private readonly kill = () => this.child?.kill("SIGKILL");

  /** What an engine needs to use it. */
  abstract readonly environment: NodeJS.ProcessEnv;
  /** What nothing may print. */
  readonly secret = encodeURIComponent(SECRET);
  protected abstract prepare(): Promise<void>;
  protected abstract command(): { program: string; args: string[]; options: SpawnOptions };

  /** Installs and starts it, empty. */
  async open(): Promise<this> {
    [this.port = 0] = await freePorts(1);
    await this.prepare();
    process.once("exit", this.kill);
    return this.start();
  }

  /** Starts it, with what it had. */
  async start(): Promise<this> {
    const { program, args, options } = this.command();
    this.child = spawn(program, args, { cwd: this.folder, stdio: "ignore", ...options });
    await waitFor({
      what: program,
      seconds: SECONDS,
      firstPauseMilliseconds: 50,
      probe: () => this.isReady().then((done) => (done ? { done } : { pending: "no answer" })),
    });
    return this;
  }

  protected isReady(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.port, "127.0.0.1");
      socket.once("error", () => resolve(false));
      socket.once("connect", () => {
        socket.destroy();
        resolve(true);
      });
    });
  }

  /** Ends it at once, without a shutdown in order. */
  async fail(): Promise<void> {
    const { child } = this;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    // PostgreSQL's immediate shutdown: its other processes end, too, and the next start recovers
    child.kill("SIGQUIT");
    await ended;
  }

  async close(): Promise<void> {
    await this.fail();
    process.removeListener("exit", this.kill);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** PostgreSQL of Debian. */
export class PostgresServer extends StateServer {
  /** It refuses to run as root. */
  private readonly owner = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined;
  private programs = "";

  override get environment(): NodeJS.ProcessEnv {
    return {
      PULUMI_BACKEND_URL: `postgres://foresail:${this.secret}@127.0.0.1:${this.port}/postgres?sslmode=disable`,
    };
  }

  protected override async prepare(): Promise<void> {
    await ensurePackages(["postgresql"], createReporter());
    const root = "/usr/lib/postgresql";
    const [newest] = readdirSync(root).sort((one, other) => Number(other) - Number(one));
    this.programs = path.join(root, newest ?? "", "bin");
    const password = path.join(this.folder, "password");
    writeFileSync(password, SECRET, { mode: 0o600 });
    if (this.owner)
      for (const each of [this.folder, password]) chownSync(each, this.owner.uid, this.owner.gid);
    const args = ["--pgdata", this.data, "--username", "foresail", "--pwfile", password, "--no-sync"];
    await run(path.join(this.programs, "initdb"), [...args, "--auth", "scram-sha-256"], {
      cwd: this.folder,
      ...this.owner,
    });
  }

  /** After a failure it listens before it has recovered. */
  protected override isReady(): Promise<boolean> {
    const args = ["-h", "127.0.0.1", "-p", String(this.port)];
    return run(path.join(this.programs, "pg_isready"), args).then(
      () => true,
      () => false,
    );
  }

  protected override command() {
    const args = ["-D", this.data, "-k", this.folder, "-h", "127.0.0.1", "-p", String(this.port), "-F"];
    return { program: path.join(this.programs, "postgres"), args, options: { ...this.owner } };
  }

  private get data(): string {
    return path.join(this.folder, "data");
  }
}

/** An S3 gateway over a folder. */
export class BucketServer extends StateServer {
  private program = "";
  private readonly keys = { access: "foresail", secret: SECRET };

  override get environment(): NodeJS.ProcessEnv {
    const query = "region=us-east-1&s3ForcePathStyle=true&disableSSL=true";
    return {
      PULUMI_BACKEND_URL: `s3://state?endpoint=127.0.0.1:${this.port}&${query}`,
      AWS_ACCESS_KEY_ID: this.keys.access,
      AWS_SECRET_ACCESS_KEY: this.keys.secret,
    };
  }

  protected override async prepare(): Promise<void> {
    const toolchain = await ensureToolchain({ programs: ["versitygw"] }, createReporter());
    this.program = toolchain.program("versitygw");
    mkdirSync(path.join(this.folder, "buckets", "state"), { recursive: true });
  }

  protected override command() {
    const args = ["--port", `127.0.0.1:${this.port}`, "--quiet", "posix", path.join(this.folder, "buckets")];
    const keys = { ROOT_ACCESS_KEY: this.keys.access, ROOT_SECRET_KEY: this.keys.secret };
    return { program: this.program, args, options: { env: { ...process.env, ...keys } } };
  }
}
