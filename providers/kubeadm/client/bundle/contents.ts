import type { ImageReference } from "../../plan/bundle/image-reference";
import { type Architecture, type PublishedFile, publishedSum } from "../../plan/bundle/software";
import type { ListedFile } from "../../plan/bundle/contents";
import { ask, contentOf, persistently, type BundleRequests } from "./persistence";
import type { RegistryClient, ResolvedImage } from "./registry";
import { together } from "./together";

/** A published file with what its project says of it. */
export interface ResolvedFile extends PublishedFile {
  readonly sha256: string;
  /** In bytes; undefined if the server does not tell. */
  readonly size?: number;
}

/** An image, and the name that it gets in the bundle. */
export interface BundledImage extends ResolvedImage {
  readonly name: string;
}

const MOST_LIST_BYTES = 1 << 20;

/** Reads the checksum and the size of each file. @throws Error if one has none */
export function resolveFiles(
  files: readonly PublishedFile[],
  requests: BundleRequests,
): Promise<ResolvedFile[]> {
  const { idleMilliseconds } = requests.patience;
  return together(files, requests, async (file, own) => {
    const sha256 = await persistently(`the checksum of ${file.name}`, own, async (_, signal) => {
      const list = await contentOf(
        await ask(file.sums, { signal, idleMilliseconds }, [200]),
        MOST_LIST_BYTES,
      );
      const sum = publishedSum(list.toString(), file.url.slice(file.url.lastIndexOf("/") + 1));
      if (sum === undefined) throw new Error(`${file.sums} has no SHA-256 of it`);
      return sum;
    });
    // some servers do not tell
    const length = await ask(file.url, { method: "HEAD", signal: own.signal, idleMilliseconds }, [200]).then(
      (response) => Number(response.resume().headers["content-length"]),
      () => NaN,
    );
    return { ...file, sha256, ...(Number.isSafeInteger(length) && { size: length }) };
  });
}

/** Reads the manifests of images. @throws Error if one is not there for the processor */
export function resolveImages(
  images: readonly { readonly reference: ImageReference; readonly name: string }[],
  architecture: Architecture,
  { registry, requests }: { readonly registry: RegistryClient; readonly requests: BundleRequests },
): Promise<BundledImage[]> {
  return together(images, requests, async ({ reference, name }, own) => ({
    ...(await registry.resolve(reference, architecture, own)),
    name,
  }));
}

/** Returns what a bundle's list says of a file. @param size of what was downloaded */
export function listedFile(
  { path, name, version, sha256, url, source }: ResolvedFile,
  size: number,
): ListedFile {
  return { path, name, version, sha256, size, from: url, source };
}
