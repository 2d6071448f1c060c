import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, rename, rm, statfs } from "node:fs/promises";
import path from "node:path";
import type { Reporter } from "../progress";
import { bundleDigest, bundleFolderName } from "./bundle-record";
import { CommandError, run } from "./command";
import type { ContainerEngine } from "./engine";
import { BUNDLES_IN_NODE, bundlesFolder, cacheFolder } from "./paths";

/** The statfs(2) type of overlayfs, on which containerd can't stack its own overlays. */
const OVERLAYFS = 0x794c7630;

/**
 * Returns whether nodes can share one imported set of images: they mount a folder of this machine, which must keep the
 * owners of files and be on a file system that supports overlays.
 */
export async function canShareContent(engine: ContainerEngine, folder: string): Promise<boolean> {
  if (!engine.isRootful) return false;
  await mkdir(folder, { recursive: true });
  const types = await Promise.all([folder, cacheFolder].map(async (each) => (await statfs(each)).type));
  return !types.includes(OVERLAYFS);
}

/**
 * Imports the images of these bundles once into a containerd folder in the cache.
 * @param image of the nodes, whose containerd imports them
 * @param bundles such as ["1.36.3"]; they must exist
 * @returns the folder; it must not be changed, only copied by `copyContent`
 */
export async function ensureContent(
  engine: ContainerEngine,
  image: string,
  bundles: readonly string[],
  report: Reporter,
): Promise<string> {
  const sorted = [...new Set(bundles)].sort();
  const names = sorted.map(bundleFolderName);
  const digests = await Promise.all(sorted.map((bundle) => bundleDigest(bundle)));
  const key = createHash("sha256")
    .update([image, ...digests].join())
    .digest("hex")
    .slice(0, 12);
  const folder = path.join(cacheFolder, "containerd", key);
  if (existsSync(folder)) return folder;
  await report.step(`container images of Kubernetes ${names.join(" and ")}`, async (update) => {
    update("importing them once for all nodes");
    const part = `${folder}.${randomUUID().slice(0, 8)}.part`;
    await mkdir(part, { recursive: true });
    try {
      await engine.call(
        [
          ...["run", "--rm", "--network", "none", ...(await engine.nestingArguments())],
          ...["--tmpfs", "/run", "--volume", `${part}:/var/lib/containerd`],
          ...["--volume", `${bundlesFolder}:${BUNDLES_IN_NODE}:ro`],
          ...[image, "bash", "-c", importScript(names)],
        ],
        300,
      );
      await rename(part, folder).catch((error: unknown) => {
        // another run was faster; use its copy
        if (!existsSync(folder)) throw error;
      });
    } finally {
      await rm(part, { recursive: true, force: true });
    }
    update("imported once for all nodes");
  });
  return folder;
}

function importScript(names: readonly string[]): string {
  return `
set -e
containerd --log-level error & containerd=$!
timeout 30 bash -c 'until ctr version >/dev/null 2>&1; do sleep 0.1; done'
for bundle in ${names.join(" ")}; do
  for archive in ${BUNDLES_IN_NODE}/$bundle/images/*.tar; do ctr --namespace k8s.io images import "$archive" >/dev/null; done
done
kill $containerd
wait $containerd || true
sync -f /var/lib/containerd
`;
}

/**
 * Creates a node's own containerd folder. Layers are hard links, because containerd writes a layer's files once and
 * overlays copy a file before they change it. Databases are changed in place, so they are copied.
 * @throws Error when the target exists
 */
export async function copyContent(content: string, target: string): Promise<void> {
  await mkdir(path.dirname(target), { recursive: true });
  try {
    await run("cp", ["--archive", "--link", "--no-target-directory", content, target]);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    // hard links do not work across file systems
    await rm(target, { recursive: true, force: true });
    await run("cp", ["--archive", "--reflink=auto", "--no-target-directory", content, target]);
    return;
  }
  for (const plugin of await readdir(content, { withFileTypes: true })) {
    if (!plugin.isDirectory()) continue;
    for (const file of await readdir(path.join(content, plugin.name), { withFileTypes: true })) {
      if (!file.isFile()) continue;
      const copy = path.join(target, plugin.name, file.name);
      await rm(copy);
      await cp(path.join(content, plugin.name, file.name), copy, { preserveTimestamps: true });
    }
  }
}
