import type { BundledImage, ResolvedFile } from "./contents";
import type { BlobFolder, KnownFile } from "./download";
import type { ask, BundleRequests } from "./persistence";
import type { RegistryClient } from "./registry";
import { together } from "./together";

/** A file to download, and how its server is asked. */
interface DueFile extends KnownFile {
  readonly send?: typeof ask;
}

const REPORT_MILLISECONDS = 10_000;

/** Returns a number of bytes for people. */
export const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

/** Downloads what a bundle contains, each file once, and says how far it is. */
export async function downloadAll(
  files: readonly ResolvedFile[],
  images: readonly BundledImage[],
  { blobs, registry, requests }: { blobs: BlobFolder; registry: RegistryClient; requests: BundleRequests },
): Promise<void> {
  const due = new Map<string, DueFile>();
  for (const file of files) due.set(file.sha256, { ...file, what: file.path });
  for (const { reference, blobs: parts } of images)
    for (const [at, part] of parts.entries())
      due.set(part.sha256, {
        ...part,
        what:
          at === 0
            ? `${reference.name}, its configuration`
            : `${reference.name}, layer ${at} of ${parts.length - 1}`,
        url: registry.blobUrl(reference, part),
        send: (...sent) => registry.send(reference, ...sent),
      });
  let [bytes, done] = [0, 0];
  const timer = setInterval(() => requests.say(`downloaded ${mebibytes(bytes)}`), REPORT_MILLISECONDS);
  try {
    await together([...due.values()], requests, async ({ send, ...file }, own) => {
      const isNew = await blobs.download(file, own, (more) => (bytes += more), send);
      done++;
      const size = file.size === undefined ? "" : ` (${mebibytes(file.size)})`;
      requests.say(`${done}/${due.size} ${file.what}${size}${isNew ? "" : ", was there"}`);
    });
  } finally {
    clearInterval(timer);
  }
}
