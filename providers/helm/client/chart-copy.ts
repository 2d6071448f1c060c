import { createHash, randomUUID } from "node:crypto";
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { unreadable } from "../../../lib/files";
import { requestOutbound } from "../../../lib/outbound-request";
import { readProcess } from "../../../lib/process/identity";
import { shortHash } from "../../../lib/short-hash";
import { quoted } from "../../../lib/text/quote";
import { readYamlDocument, readYamlOf } from "../../../lib/yaml";

/** A chart in a repository, or a folder or archive on this machine. */
interface ChartLocation {
  readonly chart: string;
  readonly repository?: string;
  readonly version?: string;
  /** Digest of the chart's archive in the repository: "sha256:" and 64 hexadecimal digits. */
  readonly digest?: string;
}

/** The keys of a default, from the top of the chart's values. */
type DefaultPath = readonly string[];

/** Where copies are kept, relative to the program's folder, so that a recorded chart names no folder of a machine. */
const COPIES = "./.foresail/charts";
const MANIFESTS = "./.foresail/manifests";
const DOWNLOAD_SECONDS = 120;
const MOST_BYTES = 64 << 20;
/** Charts have a few MiB; a small archive can contain any number of zeros or files. */
const MOST_UNPACKED_BYTES = 256 << 20;
const MINIMUM_FILE_BYTES = 4 << 10;
const TOO_LARGE = `the chart's archive contains more than ${MOST_UNPACKED_BYTES >> 20} MiB`;

/**
 * Makes a copy of a chart: after its digest was verified, and without some of its defaults. Helm removes a default for a
 * null among the values, but the kubernetes plugin drops nulls before Helm sees them (pulumi/pulumi-kubernetes#3811);
 * with the copy, the result is the same. An existing copy is used again.
 *
 * @param paths the defaults to remove; a path into a dependency begins with the dependency's name, as in Helm
 * @returns the folder of the copy, relative to the program's folder
 * @throws Error when the chart can't be downloaded or read, or has another digest
 */
export async function copyChart(
  source: ChartLocation,
  paths: readonly DefaultPath[] = [],
  copies = COPIES,
): Promise<string> {
  const { repository, version, digest } = source;
  const content =
    repository === undefined
      ? await contentHash(source.chart).catch((error: unknown) => {
          throw unreadable(source.chart, "the chart", "correct its path, or name its repository", error);
        })
      : [repository, version, ...(digest === undefined ? [] : [digest])];
  const name = path.basename(source.chart, ".tgz");
  const copy = `${copies}/${name}-${shortHash([content, paths], 12)}`;
  await mkdir(copies, { recursive: true });
  await removeAbandonedDrafts(copies);
  if (await exists(copy)) return copy;
  const draft = await mkdtemp(`${copies}/draft-${process.pid}-`);
  try {
    if (repository !== undefined) await extract(await download(source), draft);
    else if (await isFolder(source.chart))
      await cp(source.chart, draft, { recursive: true, dereference: true });
    else await extract(await readFile(source.chart), draft);
    await removeDefaults(draft, paths);
    // another program may have made the same copy meanwhile
    await rename(draft, copy).catch(async (error: unknown) => {
      if (!(await exists(copy))) throw error;
    });
    return copy;
  } finally {
    // a refused archive may still be writing
    await rm(draft, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Removes the drafts of processes that were killed. */
async function removeAbandonedDrafts(copies: string): Promise<void> {
  for (const draft of await readdir(copies)) {
    const [, pid] = /^draft-(\d+)-/.exec(draft) ?? [];
    if (pid !== undefined && readProcess(Number(pid)) === undefined)
      await rm(path.join(copies, draft), { recursive: true, force: true });
  }
}

interface Dependency {
  readonly name: string;
  readonly alias?: string;
}

/** Removes defaults from a chart's values and from those of its dependencies. */
async function removeDefaults(folder: string, paths: readonly DefaultPath[]): Promise<void> {
  const file = path.join(folder, "values.yaml");
  if (await exists(file)) {
    const values = readYamlDocument(await readFile(file, "utf8"));
    for (const keys of paths) if (values.hasIn(keys)) values.deleteIn(keys);
    await writeFile(file, values.toString());
  }
  const nested = paths.filter((keys) => keys.length > 1);
  if (nested.length === 0) return;
  const metadata = readYamlOf(
    "Chart.yaml of the chart",
    await readFile(path.join(folder, "Chart.yaml"), "utf8"),
  ) as {
    dependencies?: Dependency[];
  };
  for (const { name, alias = name } of metadata.dependencies ?? []) {
    const inside = nested.filter(([first]) => first === alias).map((keys) => keys.slice(1));
    if (inside.length > 0) await removeDefaults(await unpackDependency(folder, name), inside);
  }
}

/** Returns the folder of a dependency, which a packed chart may have as an archive. */
async function unpackDependency(folder: string, name: string): Promise<string> {
  // the name comes from the chart, and leads to a file that is written
  if (!/^[\w-][\w.-]*$/.test(name))
    throw new Error(`${quoted(name)} is not a valid name of a chart's dependency`);
  const charts = path.join(folder, "charts");
  const unpacked = path.join(charts, name);
  if (await exists(unpacked)) return unpacked;
  const archive = (await readdir(charts)).find(
    (file) => file.startsWith(`${name}-`) && file.endsWith(".tgz"),
  );
  if (archive === undefined)
    throw new Error(`the chart in ${folder} does not contain its dependency ${name}`);
  await mkdir(unpacked);
  await extract(await readFile(path.join(charts, archive)), unpacked);
  await rm(path.join(charts, archive));
  return unpacked;
}

/** Unpacks an archive, whose files are in one folder. `tar` refuses paths and links that lead out of the target. */
async function extract(archive: Buffer, folder: string): Promise<void> {
  const { extract: unpack } = await import("tar");
  await new Promise<void>((resolve, reject) => {
    let bytes = 0;
    const filter = (_path: string, { size }: { size: number }) => {
      bytes += Math.max(size, MINIMUM_FILE_BYTES);
      return bytes <= MOST_UNPACKED_BYTES;
    };
    const target = unpack({ cwd: folder, strip: 1, strict: true, filter });
    const closed = () => (bytes > MOST_UNPACKED_BYTES ? reject(new Error(TOO_LARGE)) : resolve());
    target.on("close", closed).on("error", reject);
    target.end(archive);
  });
}

interface RepositoryIndex {
  readonly entries?: Readonly<
    Record<string, readonly { version: string; urls: readonly string[]; digest?: string }[]>
  >;
}

async function download({ chart, repository = "", version, digest }: ChartLocation): Promise<Buffer> {
  const base = repository.replace(/\/*$/, "/");
  const index = readYamlOf(`${base}index.yaml`, (await get(`${base}index.yaml`)).toString("utf8"), {
    bytes: MOST_BYTES,
  }) as RepositoryIndex;
  const entry = index.entries?.[chart]?.find((each) => version === undefined || each.version === version);
  const [url] = entry?.urls ?? [];
  if (url === undefined) throw new Error(`${repository} has no chart ${chart} ${version ?? ""}`.trimEnd());
  const archive = await get(new URL(url, base).href);
  if (entry?.digest !== undefined && sha256(archive) !== entry.digest)
    throw new Error(`${url} does not have the digest in the index of ${repository}`);
  if (digest !== undefined) verify(archive, digest, `the chart ${chart} ${version ?? ""} of ${repository}`);
  return archive;
}

const sha256 = (content: Buffer): string => createHash("sha256").update(content).digest("hex");

/** Refuses content with another digest than the configuration names. */
function verify(content: Buffer, digest: string, what: string): void {
  const found = `sha256:${sha256(content)}`;
  if (found !== digest)
    throw new Error(
      `${what} has the digest ${found}, and ${digest} is expected, so nothing of it was used; ` +
        "find out who changed it, and write the new digest only if you trust the change",
    );
}

/**
 * Downloads a file of manifests whose digest is known. An existing copy is verified and used again.
 *
 * @returns the file, relative to the program's folder
 * @throws Error when the file can't be downloaded, or has another digest
 */
export async function copyManifest(url: string, digest: string, copies = MANIFESTS): Promise<string> {
  const copy = `${copies}/${digest.replace(":", "-")}.yaml`;
  const isCopied = await exists(copy);
  const content = isCopied ? await readFile(copy) : await get(url);
  verify(content, digest, isCopied ? copy : url);
  if (!isCopied) {
    await mkdir(copies, { recursive: true });
    await removeAbandonedDrafts(copies);
    const draft = `${copies}/draft-${process.pid}-${randomUUID()}`;
    await writeFile(draft, content);
    await rename(draft, copy);
  }
  return copy;
}

async function get(url: string): Promise<Buffer> {
  const advice = "or configure a file or folder with its content";
  const signal = AbortSignal.timeout(DOWNLOAD_SECONDS * 1000);
  try {
    const response = await requestOutbound(url, { signal });
    if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${response.statusMessage}`);
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of response) {
      chunks.push(chunk as Uint8Array);
      bytes += (chunk as Uint8Array).length;
      if (bytes > MOST_BYTES) throw new Error(`more than ${MOST_BYTES >> 20} MiB`);
    }
    return Buffer.concat(chunks);
  } catch (error) {
    const { message, cause } = error as Error;
    const why = cause instanceof Error ? `${message}: ${cause.message}` : message;
    throw new Error(`cannot download ${url} (${why}); make it reachable, ${advice}`, { cause: error });
  }
}

/** Returns a hash of a chart's files: their names and contents. */
async function contentHash(chart: string): Promise<string> {
  const hash = createHash("sha256");
  const files = (await isFolder(chart)) ? await readdir(chart, { recursive: true }) : [""];
  for (const file of files.sort()) {
    const full = path.join(chart, file);
    if (!(await isFolder(full))) hash.update(JSON.stringify(file)).update(await readFile(full));
  }
  return hash.digest("hex");
}

const isFolder = async (file: string): Promise<boolean> => (await stat(file)).isDirectory();

const exists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  );
