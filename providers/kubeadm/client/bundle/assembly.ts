import { chmod, copyFile, link, mkdir, open, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { sha256OfFile } from "../../../../lib/files";
import {
  type BundleList,
  IMAGES_FILE,
  LIST_FILE,
  listText,
  SBOM_FILE,
  sbomText,
  SUMS_FILE,
  sumsText,
} from "../../plan/bundle/contents";
import { architectureOf } from "../../plan/bundle/software";
import type { BundledImage, ResolvedFile } from "./contents";
import { BlobFolder } from "./download";
import { contentSum } from "./registry";

/** All files of an archive have this time, so that the same content has the same bytes. */
const EPOCH = new Date(0);

/**
 * Assembles a bundle from downloaded files.
 *
 * @param folder which does not exist
 * @param foresail the version that makes it
 */
export async function assembleBundle(
  folder: string,
  {
    list,
    files,
    images,
    blobs,
  }: {
    readonly list: BundleList;
    readonly files: readonly ResolvedFile[];
    readonly images: readonly BundledImage[];
    readonly blobs: BlobFolder;
  },
  foresail: string,
): Promise<void> {
  const sums = new Map<string, string>();
  for (const { path: name, sha256 } of files) {
    const file = path.join(folder, name);
    await mkdir(path.dirname(file), { recursive: true });
    // what was downloaded stays where the next run looks for it
    await link(blobs.fileOf(sha256), file).catch(() => copyFile(blobs.fileOf(sha256), file));
    const isProgram = name.startsWith("bin/");
    await chmod(file, isProgram ? 0o755 : 0o644);
    if (isProgram) await checkProcessor(file, name, list.architecture);
    sums.set(name, sha256);
  }
  const archive = path.join(folder, IMAGES_FILE);
  await mkdir(path.dirname(archive), { recursive: true });
  await writeImages(archive, images, blobs);
  sums.set(IMAGES_FILE, await sha256OfFile(archive));
  for (const [name, text] of [
    [LIST_FILE, listText(list)],
    [SBOM_FILE, sbomText(list, foresail)],
  ] as const) {
    await writeFile(path.join(folder, name), text);
    sums.set(name, contentSum(Buffer.from(text)));
  }
  await writeFile(path.join(folder, SUMS_FILE), sumsText(sums));
}

/** A mirror may have a file of another processor together with its checksum. */
async function checkProcessor(file: string, name: string, architecture: string): Promise<void> {
  const opened = await open(file);
  try {
    const { buffer, bytesRead } = await opened.read(Buffer.alloc(64), 0, 64, 0);
    const found = architectureOf(buffer.subarray(0, bytesRead));
    if (found !== architecture)
      throw new Error(`${name} is not a program for linux/${architecture}; check the mirror`);
  } finally {
    await opened.close();
  }
}

/** Writes images as an OCI layout in one archive, which containerd imports under their names. */
async function writeImages(
  archive: string,
  images: readonly BundledImage[],
  blobs: BlobFolder,
): Promise<void> {
  const sums = new Set(images.flatMap((image) => image.blobs.map(({ sha256 }) => sha256)));
  for (const content of images.flatMap(({ manifests }) => manifests)) {
    const sum = contentSum(content);
    await writeFile(blobs.fileOf(sum), content);
    sums.add(sum);
  }
  const manifests = images.map(({ root, name }) => ({
    ...root,
    annotations: {
      "io.containerd.image.name": name,
      "org.opencontainers.image.ref.name": name.slice(name.search(/[@:][^/]*$/) + 1),
    },
  }));
  const index = { schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json", manifests };
  await writeFile(path.join(blobs.folder, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  await writeFile(path.join(blobs.folder, "index.json"), JSON.stringify(index));
  const content = ["oci-layout", "index.json", ...[...sums].sort().map((sum) => BlobFolder.fileOf(sum))];
  await writeArchive(archive, blobs.folder, content);
}

/**
 * Writes files of a folder into an archive, the same bytes for the same content.
 *
 * @param isGzip whether it is a .tar.gz; nothing is made smaller in it, since layers of images are compressed already
 */
export async function writeArchive(
  archive: string,
  folder: string,
  files: readonly string[],
  isGzip = false,
): Promise<void> {
  const { create } = await import("tar");
  await rm(archive, { force: true });
  const gzip = isGzip && { gzip: { level: 0 } };
  await create({ cwd: folder, file: archive, portable: true, mtime: EPOCH, ...gzip }, [...files]);
}
