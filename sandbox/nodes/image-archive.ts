import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { chmod, copyFile, mkdir, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { run } from "./command";

/** A layer of images: an uncompressed tar file. */
export interface Layer {
  readonly file: string;
  /** sha256 of the file, hexadecimal */
  readonly digest: string;
}

/** An image to write. */
interface ArchivedImage {
  readonly reference: string;
  /** absent: pods specify the program in their arguments */
  readonly entrypoint?: string;
  readonly layers: readonly Layer[];
}

/** The output is reproducible. */
const REPEATABLE = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner"];

/** sha256 of a file, hexadecimal. */
export async function digestOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash);
  return hash.digest("hex");
}

/** Writes a layer with programs, each at its target, and an empty /tmp. */
export async function writeProgramLayer(
  staging: string,
  programs: readonly string[],
  targets: readonly string[],
): Promise<Layer> {
  const name = path.basename(targets[0] ?? "");
  const root = path.join(staging, `root-${name}`);
  await mkdir(root, { recursive: true });
  await mkdir(path.join(root, "tmp"));
  await chmod(path.join(root, "tmp"), 0o1777);
  for (const [index, program] of programs.entries()) {
    const target = path.join(root, targets[index] ?? "");
    await mkdir(path.dirname(target), { recursive: true });
    await copyFile(program, target);
    await chmod(target, 0o755);
  }
  const file = path.join(staging, `${name}.layer.tar`);
  await run("tar", [...REPEATABLE, "--directory", root, "--create", "--file", file, "."]);
  await rm(root, { recursive: true });
  return { file, digest: await digestOf(file) };
}

/**
 * Writes images as one archive in the format of `docker save`, which every container runtime imports.
 * @param staging a dedicated folder on the layers' file system; the layers are moved into it
 */
export async function writeImageArchive(
  staging: string,
  images: readonly ArchivedImage[],
  archive: string,
): Promise<void> {
  const content = path.join(staging, "archive");
  await mkdir(content);
  const manifest = [];
  for (const { reference, entrypoint, layers } of images) {
    const configuration = JSON.stringify(imageConfiguration(entrypoint, layers));
    const name = `${createHash("sha256").update(configuration).digest("hex")}.json`;
    await writeFile(path.join(content, name), configuration);
    manifest.push({
      Config: name,
      RepoTags: [reference],
      Layers: layers.map(({ digest }) => `${digest}.tar`),
    });
  }
  await writeFile(path.join(content, "manifest.json"), JSON.stringify(manifest));
  const layers = new Map(images.flatMap((image) => image.layers.map(({ digest, file }) => [digest, file])));
  for (const [digest, file] of layers) await rename(file, path.join(content, `${digest}.tar`));
  await run("tar", [...REPEATABLE, "--directory", content, "--create", "--file", archive, "."]);
}

function imageConfiguration(entrypoint: string | undefined, layers: readonly Layer[]): object {
  return {
    created: "1970-01-01T00:00:00Z",
    architecture: process.arch === "x64" ? "amd64" : process.arch,
    os: "linux",
    config: {
      ...(entrypoint === undefined ? {} : { Entrypoint: [entrypoint] }),
      Env: ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
    },
    rootfs: { type: "layers", diff_ids: layers.map(({ digest }) => `sha256:${digest}`) },
    history: layers.map(() => ({ created: "1970-01-01T00:00:00Z" })),
  };
}
