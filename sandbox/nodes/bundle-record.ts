import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { bundlesFolder } from "./paths";

/** The content of bundle.json. */
export interface BundleRecord {
  readonly version: string;
  /** what it was built from */
  readonly inputs: string;
  /** changes with any byte of the bundle */
  readonly digest: string;
  readonly images: readonly string[];
}

/**
 * Returns the name of a bundle's folder: "v1.36.3" for the Kubernetes version "1.36.3", otherwise the bundle's name.
 */
export function bundleFolderName(bundle: string): string {
  return /^\d/.test(bundle) ? `v${bundle}` : bundle;
}

/** Returns the folder of a bundle in the cache. */
export function bundleFolder(bundle: string): string {
  return path.join(bundlesFolder, bundleFolderName(bundle));
}

/**
 * Returns the digest of a bundle.
 * @throws Error when it was not built
 */
export async function bundleDigest(bundle: string): Promise<string> {
  const record = await readBundleRecord(bundleFolder(bundle));
  if (record === undefined)
    throw new Error(`the bundle ${bundleFolderName(bundle)} was not built; run: npm run setup`);
  return record.digest;
}

/** Reads the record of the bundle in a folder; undefined if it has to be built. */
export async function readBundleRecord(folder: string): Promise<BundleRecord | undefined> {
  try {
    return JSON.parse(await readFile(path.join(folder, "bundle.json"), "utf8")) as BundleRecord;
  } catch {
    // absent or half written: it is built again
    return undefined;
  }
}

export async function writeBundleRecord(folder: string, record: BundleRecord): Promise<void> {
  await writeFile(path.join(folder, "bundle.json"), `${JSON.stringify(record, undefined, 2)}\n`);
}
