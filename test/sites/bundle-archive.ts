import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { PassThrough } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { run } from "../../sandbox/nodes/command";
import type { KubernetesPrograms } from "../../sandbox/toolchain";

/**
 * Makes the archive of a bundle whose images are of a company's own registry.
 * @param bundle the folder of a bundle whose images have their public names
 * @param imageRepository registry and path under which the images are put
 * @param archive the .tar.gz to write
 * @returns its SHA-256
 */
export async function makeBundleArchive(
  bundle: string,
  programs: Pick<KubernetesPrograms, "kubeadm" | "version">,
  imageRepository: string,
  archive: string,
): Promise<string> {
  const staging = `${archive}.staging`;
  await mkdir(path.join(staging, "images"), { recursive: true });
  await cp(path.join(bundle, "bin"), path.join(staging, "bin"), { recursive: true });
  const content = path.join(staging, "content");
  await mkdir(content);
  await run("tar", ["-xf", path.join(bundle, "images", "images.tar"), "-C", content]);
  await renameImages(path.join(content, "manifest.json"), await imagesOf(programs, imageRepository));
  await run("tar", ["-cf", path.join(staging, "images", "site.tar"), "-C", content, "."]);
  await rm(content, { recursive: true });
  const digest = await compress(staging, archive);
  await rm(staging, { recursive: true });
  return digest;
}

async function imagesOf(
  { kubeadm, version }: Pick<KubernetesPrograms, "kubeadm" | "version">,
  repository: string,
): Promise<string[]> {
  const flags = ["--kubernetes-version", `v${version}`, "--image-repository", repository];
  return (await run(kubeadm, ["config", "images", "list", ...flags])).trim().split("\n");
}

/** Gives every image the name that kubeadm has for it in the other registry. */
async function renameImages(manifestFile: string, references: readonly string[]): Promise<void> {
  const nameOf = (reference: string) => reference.replace(/^.*\//, "").replace(/:.*$/, "");
  const manifest = JSON.parse(await readFile(manifestFile, "utf8")) as { RepoTags: string[] }[];
  for (const image of manifest) {
    const name = nameOf(image.RepoTags[0] ?? "");
    const wanted = references.find((reference) => nameOf(reference) === name);
    if (wanted !== undefined) image.RepoTags = [wanted];
  }
  await writeFile(manifestFile, JSON.stringify(manifest));
}

/** A gigabyte is stored rather than compressed: the test is about the transport. */
async function compress(folder: string, archive: string): Promise<string> {
  const tar = spawn("tar", ["-cf", "-", "-C", folder, "."], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(tar, "exit");
  const hash = createHash("sha256");
  const hashed = new PassThrough().on("data", (chunk: Buffer) => hash.update(chunk));
  await pipeline(tar.stdout, createGzip({ level: 0 }), hashed, createWriteStream(archive));
  const [code] = (await ended) as [number | null];
  if (code !== 0) throw new Error(`tar ended with ${code}`);
  return hash.digest("hex");
}
