import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { isObject, parseJson } from "../../../../lib/json";
import { LIST_FILE, readList, SUMS_FILE } from "../../plan/bundle/contents";
import { type Architecture, architectureOf } from "../../plan/bundle/software";
import type { ReadBundle } from "../../plan/bundle/verification";

const MOST_TEXT_BYTES = 32 << 20;
const HEAD_BYTES = 64;

/** Takes the content of a file, piece by piece. */
interface Reader {
  take(chunk: Buffer): void;
  end(): void;
}

/** Reads a bundle: a folder, or a .tar.gz. @throws Error if it is none that can be read */
export async function readBundle(place: string): Promise<ReadBundle> {
  const { Parser, list: listArchive } = await import("tar");
  const files = new Map<string, string>();
  const programs = new Map<string, Architecture | "other" | undefined>();
  const texts = new Map<string, string>();
  const images: string[] = [];

  /** Keeps the beginning of a file. */
  const beginning = (most: number, done: (content: Buffer) => void): Reader => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    return {
      take: (chunk) => {
        if (bytes < most) chunks.push(chunk.subarray(0, most - bytes));
        bytes += chunk.length;
      },
      end: () => done(Buffer.concat(chunks)),
    };
  };
  const namesOfImages = (): Reader => {
    const parser = new Parser({
      onReadEntry: (entry) => {
        const name = entry.path.replace(/^(\.\/)+/, "");
        if (name !== "index.json" && name !== "manifest.json") return void entry.resume();
        const reader = beginning(MOST_TEXT_BYTES, (content) =>
          images.push(...imageNames(name, content.toString())),
        );
        entry.on("data", (chunk) => reader.take(chunk)).on("end", () => reader.end());
      },
    });
    return { take: (chunk) => void parser.write(chunk), end: () => void parser.end() };
  };
  const readersOf = (name: string): Reader[] => {
    if (name === SUMS_FILE || name === LIST_FILE)
      return [beginning(MOST_TEXT_BYTES, (content) => texts.set(name, content.toString()))];
    if (name.startsWith("bin/"))
      return [beginning(HEAD_BYTES, (content) => programs.set(name, architectureOf(content)))];
    return /^images\/[^/]+\.tar$/.test(name) ? [namesOfImages()] : [];
  };
  const readerOf = (name: string): Reader => {
    const hash = createHash("sha256");
    const readers = readersOf(name);
    return {
      take: (chunk) => [hash.update(chunk), ...readers.map((reader) => reader.take(chunk))],
      end: () => {
        files.set(name, hash.digest("hex"));
        readers.forEach((reader) => reader.end());
      },
    };
  };

  if ((await stat(place)).isDirectory())
    for (const name of await filesOf(place)) {
      const reader = readerOf(name);
      for await (const chunk of createReadStream(path.join(place, name), { highWaterMark: 1 << 20 }))
        reader.take(chunk as Buffer);
      reader.end();
    }
  else
    await listArchive({
      file: place,
      strict: true,
      onReadEntry: (entry) => {
        if (entry.type !== "File" && entry.type !== "OldFile") return;
        const reader = readerOf(entry.path.replace(/^(\.\/)+/, ""));
        entry.on("data", (chunk) => reader.take(chunk)).on("end", () => reader.end());
      },
    });
  const [sums, text] = [texts.get(SUMS_FILE), texts.get(LIST_FILE)];
  const list = text === undefined ? undefined : readList(parseJson(text));
  return {
    files,
    programs,
    images,
    ...(sums !== undefined && { sums }),
    ...(list !== undefined && { list }),
  };
}

/** Lists the files of a folder, relative to it; links are followed, as the machines follow them. */
async function filesOf(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of (await readdir(folder, { recursive: true })).sort())
    if ((await stat(path.join(folder, name))).isFile()) found.push(name.split(path.sep).join("/"));
  return found;
}

/** Returns the names of the images of an archive by its index: of an OCI layout, or of `docker save`. */
function imageNames(name: string, text: string): string[] {
  const content = parseJson(text);
  if (name === "manifest.json") {
    const images = Array.isArray(content) ? (content as unknown[]) : [];
    return images.flatMap((image) => (isObject(image) ? [image["RepoTags"]].flat().map(String) : []));
  }
  const manifests = isObject(content) ? content["manifests"] : undefined;
  return (Array.isArray(manifests) ? (manifests as unknown[]) : []).flatMap((entry) => {
    const annotations = isObject(entry) ? entry["annotations"] : undefined;
    const image = isObject(annotations) ? annotations["io.containerd.image.name"] : undefined;
    return typeof image === "string" ? [image] : [];
  });
}
