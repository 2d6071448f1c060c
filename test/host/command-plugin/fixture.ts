/** What the plugin's tests share: one plugin process, one SSH server, one folder, for each test file. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Properties } from "../../../sandbox/command-plugin/wire.js";
import { SshServer, type SshServerOptions } from "../../ssh-server.js";
import { PluginProcess } from "./plugin-process.js";

export const REMOTE = "command:remote:Command";
export const COPY = "command:remote:CopyToRemote";
export const LOCAL = "command:local:Command";

export interface Fixture {
  readonly directory: string;
  readonly plugin: PluginProcess;
  readonly server: SshServer;
  /** A connection to the server with its key and pinned host key. */
  connection(overrides?: Properties): Properties;
}

/** Registers the mocha hooks; the object is filled in before the first test. */
export function fixture(options: Omit<SshServerOptions, "directory"> = {}): Fixture {
  const made = {} as { directory: string; plugin: PluginProcess; server: SshServer };
  before(async () => {
    made.directory = mkdtempSync(path.join(tmpdir(), "foresail-command-"));
    made.server = await SshServer.start({ ...options, directory: made.directory });
    made.plugin = await PluginProcess.start();
  });
  after(async () => {
    await made.plugin.stop();
    await made.server.close();
    rmSync(made.directory, { recursive: true, force: true });
  });
  return Object.assign(made, {
    connection: (overrides: Properties = {}) => connectionTo(made.server, overrides),
  });
}

/** A connection to a server that gives up after one failed attempt. */
export function connectionTo(server: SshServer, overrides: Properties = {}): Properties {
  return {
    host: "127.0.0.1",
    port: server.port,
    user: "tester",
    privateKey: server.clientKey,
    hostKey: server.hostKey,
    dialErrorLimit: 1,
    ...overrides,
  };
}

/** Waits until the condition holds. @throws Error after `seconds` */
export async function eventually(what: string, condition: () => boolean, seconds = 10): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`not within ${String(seconds)} s: ${what}`);
    await pause(10);
  }
}
