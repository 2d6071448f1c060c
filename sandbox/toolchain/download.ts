import { createWriteStream } from "node:fs";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import { fileChecksum, publishedChecksum } from "./checksum";

/** How long a host may be silent, in milliseconds: to answer, and between two pieces of a file. */
interface Patience {
  readonly answer: number;
  readonly silence: number;
}

const DEFAULT_PATIENCE: Patience = { answer: 5_000, silence: 15_000 };

/** The download is unavailable: the next source is tried. */
export class DownloadUnavailable extends Error {}

/** Aborts a request that has been silent for too long; any activity restarts the timer. */
class Silence {
  private readonly controller = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  readonly signal = this.controller.signal;

  expectWithin(milliseconds: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(
      () => this.controller.abort(new Error(`no answer within ${milliseconds / 1000} s`)),
      milliseconds,
    );
  }

  end(): void {
    clearTimeout(this.timer);
  }
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

async function fetchText(url: string, patience: Patience): Promise<string> {
  const silence = new Silence();
  silence.expectWithin(patience.answer);
  try {
    const response = await fetch(url, { signal: silence.signal });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return await response.text();
  } catch (error) {
    throw new DownloadUnavailable(`${url}: ${reason(error)}`);
  } finally {
    silence.end();
  }
}

async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}

/** Resumes a partial download of an earlier run, if the host supports it. */
async function fetchFile(
  url: string,
  part: string,
  patience: Patience,
  update: (detail: string) => void,
): Promise<void> {
  const silence = new Silence();
  silence.expectWithin(patience.answer);
  const had = await sizeOf(part);
  try {
    const headers: Record<string, string> = had > 0 ? { range: `bytes=${had}-` } : {};
    const response = await fetch(url, { headers, signal: silence.signal });
    if (response.status === 416) return; // the file is complete; its checksum is verified next
    if (!response.ok || response.body === null) throw new Error(`HTTP ${response.status}`);
    const resumed = response.status === 206;
    let bytes = resumed ? had : 0;
    const total = bytes + Number(response.headers.get("content-length") ?? 0);
    const body = Readable.fromWeb(response.body as ReadableStream<Uint8Array>);
    body.on("data", (chunk: Uint8Array) => {
      silence.expectWithin(patience.silence);
      bytes += chunk.length;
      update(`${(bytes / 2 ** 20).toFixed(0)} of ${(total / 2 ** 20).toFixed(0)} MiB`);
    });
    await pipeline(body, createWriteStream(part, { flags: resumed ? "a" : "w" }), { signal: silence.signal });
  } catch (error) {
    throw new DownloadUnavailable(`${url}: ${reason(error)}`);
  } finally {
    silence.end();
  }
}

/**
 * Downloads a file and checks it against the publisher's SHA-256 sum. Partial data is kept in FILE.part, and a later
 * call requests only the rest. A file with the wrong sum is deleted and never used.
 * @param source URLs of the file and of its checksums
 * @param name the file's name in the checksums
 * @param file where to put it
 * @throws DownloadUnavailable when a host refuses, is silent for too long, or the sum is wrong
 */
export async function download(
  source: { url: string; checksums: string },
  name: string,
  file: string,
  update: (detail: string) => void,
  patience: Patience = DEFAULT_PATIENCE,
): Promise<void> {
  let wanted: string;
  try {
    wanted = publishedChecksum(await fetchText(source.checksums, patience), name);
  } catch (error) {
    throw error instanceof DownloadUnavailable
      ? error
      : new DownloadUnavailable(`${source.checksums}: ${reason(error)}`);
  }
  await mkdir(path.dirname(file), { recursive: true });
  const part = `${file}.part`;
  await fetchFile(source.url, part, patience, update);
  const found = await fileChecksum(part);
  if (found !== wanted) {
    await rm(part, { force: true });
    throw new DownloadUnavailable(
      `${source.url}: SHA-256 is ${found}, published is ${wanted}; the file was deleted`,
    );
  }
  await rename(part, file);
}
