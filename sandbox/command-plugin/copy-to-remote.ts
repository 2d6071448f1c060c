/** Copies the source of a `command:remote:CopyToRemote` to the remote machine by SFTP. */
import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import type { SFTPWrapper, Stats } from "ssh2";
import { withConnection, type Connection } from "./connection.js";
import type { ResourceLog } from "./engine-log.js";
import { isAsset, type Properties } from "./wire.js";

interface CopyInputs {
  readonly connection: Connection;
  /** A string asset, a file asset, or a file archive: a path that is copied as it is. */
  readonly source: Properties;
  readonly remotePath: string;
}

/**
 * Copies the source: a file to `remotePath` or, where that is a folder, into it; a folder into `remotePath`, and with a
 * slash at the end of the source's path only what is in it. Missing parent folders are created.
 * @throws Error with the remote path and the SFTP server's message
 */
export function copyToRemote(inputs: CopyInputs, log: ResourceLog, signal: AbortSignal): Promise<void> {
  return withConnection(inputs.connection, log, signal, async (client) => {
    const remote = new Remote(await promisify(client.sftp.bind(client))());
    const { source, remotePath } = inputs;
    const text = source["text"];
    if (isAsset(source) && typeof source["path"] !== "string" && typeof text === "string") {
      await copyText(remote, text, remotePath);
    } else {
      await copyPath(remote, source["path"] as string, remotePath);
    }
  });
}

async function copyText(remote: Remote, text: string, target: string): Promise<void> {
  if ((await remote.stat(target))?.isDirectory() === true) {
    throw new Error(
      `remote path ${target} is a directory: a string asset needs the path of a file as remotePath`,
    );
  }
  await remote.makeFolders(path.posix.dirname(target));
  await remote.write(target, text);
}

async function copyPath(remote: Remote, source: string, target: string): Promise<void> {
  const existing = await remote.stat(target);
  if (!(await stat(source)).isDirectory()) {
    if (existing?.isDirectory() === true)
      return remote.put(source, path.posix.join(target, path.basename(source)));
    if (existing === undefined) await remote.makeFolders(path.posix.dirname(target));
    return remote.put(source, target);
  }
  if (existing === undefined) await remote.makeFolders(target);
  await copyFolder(
    remote,
    source,
    source.endsWith("/") ? target : path.posix.join(target, path.basename(source)),
  );
}

async function copyFolder(remote: Remote, source: string, target: string): Promise<void> {
  const existing = await remote.stat(target);
  if (existing === undefined) await remote.makeFolder(target);
  else if (!existing.isDirectory()) throw new Error(`remote path ${target} exists and is not a directory`);
  for (const entry of await readdir(source, { withFileTypes: true })) {
    const from = path.join(source, entry.name);
    const to = path.posix.join(target, entry.name);
    if (entry.isDirectory()) await copyFolder(remote, from, to);
    else await remote.put(from, to);
  }
}

const NO_SUCH_FILE = 2;

/** SFTP with promises, and errors that contain the path. */
class Remote {
  constructor(private readonly sftp: SFTPWrapper) {}

  async stat(target: string): Promise<Stats | undefined> {
    try {
      return await promisify<string, Stats>(this.sftp.stat.bind(this.sftp))(target);
    } catch (error) {
      if ((error as { code?: number }).code === NO_SUCH_FILE) return undefined;
      throw this.failure("look at", target, error);
    }
  }

  async makeFolder(target: string): Promise<void> {
    await this.run("make folder", target, (done) => this.sftp.mkdir(target, done));
  }

  async makeFolders(target: string): Promise<void> {
    if ((await this.stat(target)) !== undefined) return;
    await this.makeFolders(path.posix.dirname(target));
    await this.makeFolder(target);
  }

  async write(target: string, text: string): Promise<void> {
    await this.run("write", target, (done) => this.sftp.writeFile(target, text, done));
  }

  async put(source: string, target: string): Promise<void> {
    await this.run("copy to", target, (done) => this.sftp.fastPut(source, target, done));
  }

  private async run(
    what: string,
    target: string,
    work: (done: (error?: Error | null) => void) => void,
  ): Promise<void> {
    try {
      await promisify(work)();
    } catch (error) {
      throw this.failure(what, target, error);
    }
  }

  private failure(what: string, target: string, error: unknown): Error {
    return new Error(`cannot ${what} remote path ${target}: ${(error as Error).message}`, { cause: error });
  }
}
