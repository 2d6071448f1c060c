import { execFile } from "node:child_process";
import { chmod, mkdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { readGivenFile, sha256OfFile } from "../../lib/files";
import { foresailVersion } from "../../lib/version";
import { isPlainHttpToOtherHost, urlIssue } from "../../lib/validation/urls";
import { assembleBundle, writeArchive } from "../../providers/kubeadm/client/bundle/assembly";
import {
  type BundledImage,
  listedFile,
  type ResolvedFile,
  resolveFiles,
  resolveImages,
} from "../../providers/kubeadm/client/bundle/contents";
import { BlobFolder, sizeOf } from "../../providers/kubeadm/client/bundle/download";
import { downloadAll, mebibytes } from "../../providers/kubeadm/client/bundle/download-all";
import { withFolderLock } from "../../providers/kubeadm/client/bundle/folder-lock";
import {
  PATIENCE,
  type Patience,
  type BundleRequests,
} from "../../providers/kubeadm/client/bundle/persistence";
import { RegistryClient } from "../../providers/kubeadm/client/bundle/registry";
import { readLogins } from "../../providers/kubeadm/client/bundle/registry-login";
import { bundleFiles, type BundleList } from "../../providers/kubeadm/plan/bundle/contents";
import { type ImageReference, readImageReference } from "../../providers/kubeadm/plan/bundle/image-reference";
import {
  type Architecture,
  kubernetesImages,
  publishedFiles,
  renamedImage,
} from "../../providers/kubeadm/plan/bundle/software";
import { kubernetesVersionIssue } from "../../providers/kubeadm/plan/validation/kubernetes-version";
import { imageRepositoryIssue, registryHostIssue } from "../../providers/kubeadm/plan/validation/source";
import { EXIT, UsageError } from "../terminal/exit-codes";
import { columns } from "../terminal/table";
import { print } from "../terminal/terminal";

export interface BundleCreateOptions {
  readonly kubernetes: string;
  readonly arch: Architecture;
  /** A folder, or a file that ends with .tar.gz. */
  readonly output: string;
  /** A file with the names of further images. */
  readonly images?: string;
  readonly imageRepository?: string;
  readonly fromPrograms?: string;
  /** `URL` or `HOST=URL`. */
  readonly registry: readonly string[];
  readonly containerd: string;
  readonly runc: string;
  readonly cniPlugins: string;
  readonly dryRun: boolean;
}

/** What the command uses of its process. */
interface CreateContext {
  readonly say: (line: string) => void;
  readonly patience: Patience;
}

/** An image, and the name that it gets in the bundle. */
interface NamedImage {
  readonly reference: ImageReference;
  readonly name: string;
}

/** Makes a bundle, as the setting `source.bundle` takes it, from what projects publish. @returns the exit code */
export async function bundleCreate(
  options: BundleCreateOptions,
  { say = print, patience = PATIENCE }: Partial<CreateContext> = {},
): Promise<number> {
  const { kubernetes, arch, dryRun } = options;
  // the modes of files are a part of the bytes of an archive
  process.umask(0o022);
  const output = path.resolve(options.output);
  refuse("--kubernetes", kubernetesVersionIssue(kubernetes));
  for (const [name, version] of [
    ["--containerd", options.containerd],
    ["--runc", options.runc],
    ["--cni-plugins", options.cniPlugins],
  ] as const)
    refuse(name, /^\d+\.\d+\.\d+$/.test(version) ? undefined : "is not a version; write MAJOR.MINOR.PATCH");
  if (options.fromPrograms !== undefined) refuse("--from-programs", mirrorIssue(options.fromPrograms));
  if (options.imageRepository !== undefined)
    refuse("--image-repository", imageRepositoryIssue(options.imageRepository));
  const mirrors = mirrorsOf(options.registry);
  const further = options.images === undefined ? [] : await readImages(options.images);
  if ((await sizeOf(output)) !== undefined)
    throw new UsageError(
      `${output} is there already; check it with \`foresail bundle verify\`, or name another --output`,
    );

  const requests: BundleRequests = { patience, say };
  const registry = new RegistryClient(mirrors, await readLogins(), patience.idleMilliseconds);
  const part = `${output}.part`;
  const blobs = new BlobFolder(part);
  const files = await resolveFiles(publishedFiles(options, arch, options.fromPrograms), requests);
  const create = async () => {
    const own = kubernetesImages(kubernetes) ?? (await askKubeadm(files, options, blobs, requests));
    const images = await resolveImages(namedImages(own, further, options.imageRepository), arch, {
      registry,
      requests,
    });
    describe(files, images, say);
    if (dryRun) return;
    await downloadAll(files, images, { blobs, registry, requests });
    const list = await listOf(options, files, images, blobs);
    const folder = path.join(part, "bundle");
    await rm(folder, { recursive: true, force: true });
    say("assembling the bundle");
    await assembleBundle(folder, { list, files, images, blobs }, foresailVersion());
    await place(folder, list, output);
  };
  if (dryRun && kubernetesImages(kubernetes) !== undefined) await create();
  else {
    await mkdir(part, { recursive: true });
    await withFolderLock(part, create);
  }
  if (dryRun) return EXIT.done;
  await rm(part, { recursive: true, force: true });
  await explain(output, kubernetes, say);
  return EXIT.done;
}

function refuse(option: string, issue: string | undefined): void {
  if (issue !== undefined) throw new UsageError(`${option}: ${issue}`);
}

const isArchive = (output: string): boolean => /\.(tar\.gz|tgz)$/.test(output);

/** Checksums come from the same server, so that its identity has to be verified: https, or this machine. */
function mirrorIssue(url: string): string | undefined {
  const issue = urlIssue(url);
  if (issue !== undefined) return issue;
  return isPlainHttpToOtherHost(url) ? "is plain http to another host; write an https address" : undefined;
}

/** Reads mirrors of registries: `HOST=URL`, or a URL for all other registries. */
function mirrorsOf(given: readonly string[]): Map<string, string> {
  const mirrors = new Map<string, string>();
  for (const text of given) {
    const [, host = "", url = ""] = /^(?:([^=/]+)=)?(.*)$/.exec(text) ?? [];
    if (host !== "") refuse("--registry", registryHostIssue(host));
    refuse("--registry", mirrorIssue(url));
    mirrors.set(host, url);
  }
  return mirrors;
}

/** Reads a file with an image on each line; the rest of a line after # is a comment. */
async function readImages(file: string): Promise<ImageReference[]> {
  const text = await readGivenFile(file, "the list of images", "name it with --images");
  const images: ImageReference[] = [];
  const issues: string[] = [];
  for (const [at, line] of text.split("\n").entries()) {
    const name = line.replace(/#.*$/, "").trim();
    if (name === "") continue;
    const read = readImageReference(name);
    if (typeof read === "string") issues.push(`${file}:${at + 1}: ${read}`);
    else images.push(read);
  }
  if (issues.length > 0) throw new UsageError(issues.join("\n"));
  return images;
}

/** Returns all images of a bundle, each name once. */
function namedImages(
  own: readonly string[],
  further: readonly ImageReference[],
  repository?: string,
): NamedImage[] {
  const images = new Map<string, NamedImage>();
  for (const image of own) {
    const reference = readImageReference(image);
    if (typeof reference === "string")
      throw new Error(`kubeadm names an image that can't be read: ${reference}`);
    const name = renamedImage(image, repository);
    images.set(name, { reference, name });
  }
  for (const reference of further) images.set(reference.name, { reference, name: reference.name });
  return [...images.values()];
}

/** Asks the kubeadm of a version that this release does not know for its images. */
async function askKubeadm(
  files: readonly ResolvedFile[],
  { kubernetes, arch }: BundleCreateOptions,
  blobs: BlobFolder,
  requests: BundleRequests,
): Promise<string[]> {
  const here = process.arch === "x64" ? "amd64" : process.arch;
  const kubeadm = files.find(({ name }) => name === "kubeadm");
  if (process.platform !== "linux" || here !== arch || kubeadm === undefined)
    throw new Error(
      `this release of foresail does not know the images of Kubernetes ${kubernetes}; its kubeadm does: run the command on linux/${arch}`,
    );
  await blobs.download({ ...kubeadm, what: kubeadm.path }, requests, () => undefined);
  const program = blobs.fileOf(kubeadm.sha256);
  await chmod(program, 0o755);
  const args = ["config", "images", "list", "--kubernetes-version", `v${kubernetes}`];
  const { stdout } = await promisify(execFile)(program, args, { timeout: 60_000 });
  return stdout.trim().split("\n");
}

async function listOf(
  { kubernetes, arch: architecture }: BundleCreateOptions,
  files: readonly ResolvedFile[],
  images: readonly BundledImage[],
  blobs: BlobFolder,
): Promise<BundleList> {
  const listed = files.map(async (file) => listedFile(file, (await sizeOf(blobs.fileOf(file.sha256))) ?? 0));
  return {
    format: 1,
    kubernetes,
    architecture,
    files: await Promise.all(listed),
    images: images.map(({ name, root, reference }) => ({ name, digest: root.digest, from: reference.name })),
  };
}

/** Prints what a bundle contains, with sizes, before anything of it is downloaded. */
function describe(
  files: readonly ResolvedFile[],
  images: readonly BundledImage[],
  say: (line: string) => void,
): void {
  const parts = new Map(images.flatMap(({ blobs }) => blobs.map(({ sha256, size }) => [sha256, size])));
  const total = (sizes: Iterable<number>) => [...sizes].reduce((sum, size) => sum + size, 0);
  const rows = [
    ...files.map(({ path: file, url, size }) => [
      file,
      size === undefined ? "unknown" : mebibytes(size),
      url,
    ]),
    ...images.map(({ name, reference, blobs }) => [
      name,
      mebibytes(total(blobs.map(({ size }) => size))),
      reference.name,
    ]),
  ];
  for (const line of columns([["CONTENT", "SIZE", "FROM"], ...rows])) say(line);
  const known = total(files.map(({ size = 0 }) => size)) + total(parts.values());
  say(`${mebibytes(known)} in all; layers that images share count once`);
}

/** Moves a complete bundle to where it is asked for, all at once. */
async function place(folder: string, { files }: BundleList, output: string): Promise<void> {
  if (!isArchive(output)) return rename(folder, output);
  const archive = `${folder}.tar.gz`;
  await writeArchive(archive, folder, bundleFiles(files), true);
  await rename(archive, output);
}

/** Says how a stack uses a bundle. */
async function explain(output: string, kubernetes: string, say: (line: string) => void): Promise<void> {
  if (isArchive(output)) {
    const sha256 = await sha256OfFile(output);
    say(
      `${output} is complete (${mebibytes((await sizeOf(output)) ?? 0)}). Put it on a server that the machines reach, and write:`,
    );
    say(`  source: { bundle: { url: https://…/${path.basename(output)}, sha256: ${sha256} } }`);
    return;
  }
  say(`${output} is complete. Copy it to each machine, owned by root, and write:`);
  say(`  source: { bundle: { path: "/opt/foresail/bundle/v${kubernetes}" } }`);
}
