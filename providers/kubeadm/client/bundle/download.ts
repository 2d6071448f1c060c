import { createWriteStream } from "node:fs";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileFault, sha256OfFile } from "../../../../lib/files";
import { messageOf } from "../../../../lib/error-message";
import { Transient } from "../../../../lib/wait";
import { ask, persistently, type BundleRequests } from "./persistence";

/** A file whose content is known before it is downloaded. */
export interface KnownFile {
  /** For messages. */
  readonly what: string;
  readonly url: string;
  readonly sha256: string;
  /** In bytes, where it is known. */
  readonly size?: number;
}

const MOST_BYTES = 16 * 2 ** 30;

/** Downloaded files by their SHA-256, so that a run continues with what another one has downloaded. */
export class BlobFolder {
  /** @param folder blobs are in its subfolder blobs/sha256, as an OCI layout has them */
  constructor(readonly folder: string) {}

  /** Returns the file of a blob, relative to the folder. */
  static fileOf(sha256: string): string {
    return path.join("blobs", "sha256", sha256);
  }

  /** Returns the file of a blob. */
  fileOf(sha256: string): string {
    return path.join(this.folder, BlobFolder.fileOf(sha256));
  }

  /** Tells whether a blob is there, as it should be. A changed one is removed. */
  async has(sha256: string): Promise<boolean> {
    const file = this.fileOf(sha256);
    if ((await sizeOf(file)) === undefined) return false;
    if ((await sha256OfFile(file)) === sha256) return true;
    await rm(file);
    return false;
  }

  /**
   * Downloads a file, and continues an unfinished download.
   *
   * @param received is told how many bytes have come
   * @param send sends a request as `ask` does
   * @returns false if it was there
   * @throws Error that says what to do
   */
  async download(
    { what, url, sha256, size }: KnownFile,
    requests: BundleRequests,
    received: (bytes: number) => void,
    send = ask,
  ): Promise<boolean> {
    if (await this.has(sha256)) return false;
    const partial = path.join(this.folder, `${sha256}.partial`);
    await mkdir(path.dirname(this.fileOf(sha256)), { recursive: true });
    await persistently(what, requests, async (ahead, signal) => {
      const begun = await this.receive(partial, { url, size }, send, {
        signal,
        idleMilliseconds: requests.patience.idleMilliseconds,
        received: (bytes) => {
          ahead();
          received(bytes);
        },
      });
      const found = await sha256OfFile(partial);
      if (found === sha256) return;
      await rm(partial);
      if (begun > 0) throw new Transient("its continued download has another checksum, so it begins anew");
      throw new Error(
        `what ${new URL(url).host} sent has the SHA-256 ${found}, and ${sha256} is published; nothing of it was used. ` +
          "Find out what changed it: a proxy, or a mirror that is out of date",
      );
    });
    await rename(partial, this.fileOf(sha256));
    return true;
  }

  /** Appends what is missing of a file. @returns how many bytes it had before */
  private async receive(
    partial: string,
    { url, size }: Pick<KnownFile, "url" | "size">,
    send: typeof ask,
    {
      received,
      ...sent
    }: { signal: AbortSignal; idleMilliseconds: number; received: (bytes: number) => void },
  ): Promise<number> {
    const had = (await sizeOf(partial)) ?? 0;
    if (size !== undefined && had === size && size > 0) return had;
    const range = had > 0 ? { range: `bytes=${had}-` } : {};
    const response = await send(url, { ...sent, headers: range }, [200, 206, 416]);
    const isContinued =
      response.statusCode === 206 && (response.headers["content-range"] ?? "").startsWith(`bytes ${had}-`);
    if (response.statusCode !== 200 && !isContinued) {
      response.resume();
      await rm(partial, { force: true });
      throw new Transient("the server can't continue it, so it begins anew");
    }
    const most = size ?? MOST_BYTES;
    let bytes = isContinued ? had : 0;
    const counted = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        bytes += chunk.length;
        received(chunk.length);
        done(bytes > most ? new Error(`the server sends more than ${most} bytes`) : null, chunk);
      },
    });
    try {
      await pipeline(response, counted, createWriteStream(partial, { flags: isContinued ? "a" : "w" }));
    } catch (error) {
      if (/^E(ACCES|DQUOT|IO|NOSPC|ROFS)$/.test((error as NodeJS.ErrnoException).code ?? ""))
        throw new Error(`can't write ${partial}: ${fileFault(error)}`, { cause: error });
      if (bytes > most) {
        await rm(partial, { force: true });
        throw error;
      }
      throw new Transient(`the download broke off after ${bytes} bytes: ${messageOf(error)}`);
    }
    if (size !== undefined && bytes < size) throw new Transient(`only ${bytes} of ${size} bytes came`);
    return isContinued ? had : 0;
  }
}

/** Returns how large a file is; undefined when there is none. */
export const sizeOf = (file: string): Promise<number | undefined> =>
  stat(file).then(
    ({ size }) => size,
    () => undefined,
  );
