/** Stacks that were recorded with earlier code, together with the servers on which they work. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import path from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { parse } from "yaml";
import { waitFor } from "../../../lib/wait";
import { projectFolder } from "../../../sandbox/paths";
import type { Toolchain } from "../../../sandbox/toolchain";
import { BareApiServer, type SavedApiServer } from "../../simulation/bare-api-server";
import { makeCompiledClone, removeFolder } from "../compiled-clone";
import { apiPrograms } from "../simulated-fixture";
import { type ExportedState, TestStack } from "../test-stack";

/** A stack as it was exported, and what its servers start from. Never changed later: users' backends contain such state. */
export interface RecordedStack {
  /** Text of Pulumi.test.yaml; its secrets are encrypted under the tests' passphrase, as those of the state. */
  readonly stackFile: string;
  readonly state: ExportedState;
  readonly servers: unknown;
}

/** The servers of a system while a recorded stack works on them. */
export interface RunningServers {
  /** Configuration of a new stack. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Of the API server that the machines join, in which node agents are played. */
  readonly kubeconfig?: string;
  /** Brings a new stack to the recorded state. */
  record(stack: TestStack): Promise<void>;
  /** Returns a small change of the recorded configuration: one machine more. */
  scaled(configuration: Configuration): Configuration;
  /** Returns what servers in the same state start from. */
  save(): Promise<unknown>;
  stop(): Promise<void>;
}

/** Values of a stack's configuration, without the project's name. */
export type Configuration = Record<string, Record<string, unknown>>;

/** Starts the servers of a system: new ones, or those of a recorded stack. @param folder the stack's project */
export type StartServers = (toolchain: Toolchain, folder: string, saved?: unknown) => Promise<RunningServers>;

/**
 * Ports of 127.0.0.1 that the recorded stacks contain, outside the range from which the kernel takes ports. `guard` is
 * what two runs on one machine take turns by.
 */
export const PORTS = {
  guard: 14100,
  apiServer: 14101,
  service: 14102,
  fleet: 14110,
} as const;

const TURN_SECONDS = 900;
const OF_ONE_MACHINE = ["sourcePosition", "stackTrace"];

const FOLDER = path.join(projectFolder, "test", "engine", "fixtures", "states");

/** Returns the names of the recorded stacks, such as "azimuth-0.1.0". */
export function recordedNames(): string[] {
  return readdirSync(FOLDER)
    .flatMap((name) => /^(.+)\.json\.gz$/.exec(name)?.[1] ?? [])
    .sort();
}

export function readRecorded(name: string): RecordedStack {
  return JSON.parse(gunzipSync(readFileSync(fileOf(name))).toString("utf8")) as RecordedStack;
}

/** Leaves out where the code of a resource is on the machine. */
export function withoutSourcePaths(recorded: RecordedStack): unknown {
  const kept = (key: string, value: unknown) => (OF_ONE_MACHINE.includes(key) ? undefined : value);
  return JSON.parse(JSON.stringify(recorded, kept));
}

/** Writes a recorded stack. @throws Error if there is one of that name */
export function writeRecorded(name: string, text: string): string {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(fileOf(name), gzipSync(text, { level: 9 }), { flag: "wx" });
  return fileOf(name);
}

function fileOf(name: string): string {
  return path.join(FOLDER, `${name}.json.gz`);
}

/** Starts the API server that the recorded stacks contain, empty or as it was saved. */
export function startApiServer(
  toolchain: Toolchain,
  saved?: SavedApiServer,
  controllers = ["token-cleaner-controller"],
): Promise<BareApiServer> {
  const programs = apiPrograms(toolchain);
  return new BareApiServer({ programs, controllers, port: PORTS.apiServer, ...(saved && { saved }) }).start();
}

/** A stack with its servers, in a compiled clone. */
export class StackOnServers {
  private constructor(
    readonly stack: TestStack,
    readonly servers: RunningServers,
    private readonly guard: Server,
  ) {}

  /**
   * Starts the servers and creates the stack.
   * @param recorded default: new servers and an empty stack
   * @param project the compiled project whose code runs; default: this one
   */
  static async open(
    start: StartServers,
    toolchain: Toolchain,
    recorded?: RecordedStack,
    project?: string,
  ): Promise<StackOnServers> {
    const guard = await takeTurn();
    const folder = makeCompiledClone(project);
    try {
      const servers = await start(toolchain, folder, recorded?.servers);
      const stack = await new TestStack({ folder, project: "foresail", stack: "test" }, toolchain).create();
      const opened = new StackOnServers(stack, servers, guard);
      await opened.fill(recorded);
      return opened;
    } catch (error) {
      guard.close();
      removeFolder(folder);
      throw error;
    }
  }

  private async fill(recorded: RecordedStack | undefined): Promise<void> {
    const { stack, servers } = this;
    if (!recorded) {
      for (const [key, value] of Object.entries(servers.secrets)) await stack.setSecret(key, value);
      return;
    }
    writeFileSync(stack.stackFile, recorded.stackFile);
    const { exitCode, stderr } = await stack.call(["stack", "import"], {
      input: JSON.stringify(recorded.state),
    });
    if (exitCode !== 0) throw new Error(`pulumi stack import failed: ${stderr}`);
  }

  /** Returns the stack and its servers as they are now. */
  async save(): Promise<RecordedStack> {
    return {
      stackFile: readFileSync(this.stack.stackFile, "utf8"),
      state: await this.stack.export(),
      servers: await this.servers.save(),
    };
  }

  /** Writes the configuration with one machine more. */
  scaleUp(): void {
    this.reconfigure((configuration) => this.servers.scaled(configuration));
  }

  /** Writes the configuration with a change. */
  reconfigure(change: (configuration: Configuration) => Configuration): void {
    const { config } = parse(readFileSync(this.stack.stackFile, "utf8")) as { config: Configuration };
    const plain = Object.entries(config).map(([key, value]) => [key.replace(/^[^:]*:/, ""), value]);
    this.stack.configure(change(Object.fromEntries(plain) as Configuration));
  }

  async close(): Promise<void> {
    await this.servers.stop();
    this.guard.close();
    removeFolder(this.stack.place.folder);
  }
}

/** Waits until no other run on this machine uses the ports. The kernel ends the turn with the process. */
function takeTurn(): Promise<Server> {
  return waitFor({
    what: `port ${PORTS.guard}, which another run of these tests holds`,
    seconds: TURN_SECONDS,
    longestPauseMilliseconds: 1000,
    probe: () =>
      new Promise((resolve) => {
        const server = createServer((socket) => socket.destroy());
        server.once("error", (error) => resolve({ pending: error.message }));
        server.listen(PORTS.guard, "127.0.0.1", () => resolve({ done: server }));
      }),
  });
}
