import { randomUUID } from "node:crypto";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import type { Reporter } from "../progress";
import { bundleFolder, readBundleRecord, writeBundleRecord } from "./bundle-record";
import { digestOf, writeImageArchive, writeProgramLayer } from "./image-archive";

/** Increased when the layout changes, so that bundles of older code are rebuilt. */
const LAYOUT = 1;

/** An image with one program, which pods start by its path. */
interface ProgramImage {
  readonly reference: string;
  readonly version: string;
  /** the program on this machine */
  readonly program: string;
  /** its path in the image */
  readonly target: string;
}

/**
 * Builds a bundle of one image instead of a Kubernetes version, unless it is in the cache: images/images.tar and
 * bundle.json.
 * @param name does not begin with a digit
 */
export async function ensureProgramBundle(
  name: string,
  { reference, version, program, target }: ProgramImage,
  report: Reporter,
): Promise<void> {
  const folder = bundleFolder(name);
  const { size, mtimeMs } = await stat(program);
  const inputs = [`layout ${LAYOUT}`, reference, target, `${size} ${Math.floor(mtimeMs)}`].join("; ");
  if ((await readBundleRecord(folder))?.inputs === inputs) return;
  await report.step(`the image ${reference}`, async (update) => {
    const part = `${folder}.${randomUUID().slice(0, 8)}.part`;
    const staging = path.join(part, "staging");
    const archive = path.join(part, "images", "images.tar");
    try {
      for (const path_ of [staging, path.dirname(archive)]) await mkdir(path_, { recursive: true });
      const layer = await writeProgramLayer(staging, [program], [target]);
      await writeImageArchive(staging, [{ reference, layers: [layer] }], archive);
      await rm(staging, { recursive: true });
      await writeBundleRecord(part, {
        version,
        inputs,
        digest: await digestOf(archive),
        images: [reference],
      });
      await rm(folder, { recursive: true, force: true });
      await rename(part, folder);
    } finally {
      await rm(part, { recursive: true, force: true });
    }
    update("assembled");
  });
}
