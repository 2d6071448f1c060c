import { quoted } from "../../../../lib/text/quote";
import type { BundleList } from "./contents";
import { LIST_FILE, SUMS_FILE } from "./contents";
import { type Architecture, KUBERNETES_PROGRAMS, kubernetesImages } from "./software";

/** What was read of a bundle. */
export interface ReadBundle {
  /** The SHA-256 of each file. */
  readonly files: ReadonlyMap<string, string>;
  /** The text of SHA256SUMS. */
  readonly sums?: string;
  /** undefined for a bundle that another program made. */
  readonly list?: BundleList;
  /** Whose processor the programs are for. */
  readonly programs: ReadonlyMap<string, Architecture | "other" | undefined>;
  /** The names of the images in its archives. */
  readonly images: readonly string[];
}

/** What a bundle is for; what is absent is not compared. */
export interface AskedBundle {
  readonly kubernetes?: string;
  readonly architecture?: Architecture;
}

/** Returns what is missing in a bundle, what was changed, and what it does not fit. */
export function bundleFaults(bundle: ReadBundle, asked: AskedBundle): string[] {
  return [...sumFaults(bundle), ...programFaults(bundle, asked), ...imageFaults(bundle, asked)];
}

function sumFaults({ files, sums }: ReadBundle): string[] {
  if (sums === undefined) return [`${SUMS_FILE} is missing, so nothing shows whether a file was changed`];
  const listed = new Map<string, string>();
  const faults: string[] = [];
  for (const line of sums.split("\n").filter((each) => each !== "")) {
    const [, sum, path] = /^([0-9a-f]{64}) [ *](.+)$/i.exec(line) ?? [];
    if (sum !== undefined && path !== undefined) listed.set(path, sum.toLowerCase());
    else faults.push(`${SUMS_FILE} has a line that is no checksum with a path: ${quoted(line)}`);
  }
  for (const [path, sum] of listed) {
    const found = files.get(path);
    if (found === undefined) faults.push(`${quoted(path)} is missing`);
    else if (found !== sum) faults.push(`${quoted(path)} was changed: it does not match ${SUMS_FILE}`);
  }
  for (const path of files.keys())
    if (path !== SUMS_FILE && !listed.has(path)) faults.push(`${quoted(path)} is not in ${SUMS_FILE}`);
  return faults;
}

function programFaults({ files, programs, list }: ReadBundle, asked: AskedBundle): string[] {
  const architecture = asked.architecture ?? list?.architecture;
  const faults = KUBERNETES_PROGRAMS.map((name) => `bin/${name}`)
    .filter((path) => !files.has(path))
    .map((path) => `${path} is missing`);
  for (const [path, found] of programs)
    if (found === undefined) faults.push(`${quoted(path)} is not a program for Linux`);
    else if (architecture !== undefined && found !== architecture)
      faults.push(
        `${quoted(path)} is for ${found === "other" ? "another processor" : found}, not for ${architecture}`,
      );
  const { kubernetes = list?.kubernetes } = asked;
  if (list !== undefined && list.kubernetes !== kubernetes)
    faults.push(`it is the bundle of Kubernetes ${quoted(list.kubernetes)}, not of ${kubernetes}`);
  if (list !== undefined && asked.architecture !== undefined && list.architecture !== asked.architecture)
    faults.push(`it is the bundle for ${quoted(list.architecture)}, not for ${asked.architecture}`);
  return faults;
}

function imageFaults({ images, list }: ReadBundle, { kubernetes = list?.kubernetes }: AskedBundle): string[] {
  const faults = (list?.images ?? [])
    .filter(({ name }) => !images.includes(name))
    .map(({ name }) => `the image ${quoted(name)} of ${LIST_FILE} is in no archive of images/`);
  if (list === undefined && images.length === 0) return [...faults, "images/ has no archive with an image"];
  // a bundle may have them under the names of another registry
  const own = new Set(images.map((image) => image.slice(image.lastIndexOf("/") + 1)));
  for (const image of kubernetes === undefined ? [] : (kubernetesImages(kubernetes) ?? [])) {
    const name = image.slice(image.lastIndexOf("/") + 1);
    if (!own.has(name)) faults.push(`the image ${name}, which kubeadm ${kubernetes} needs, is missing`);
  }
  return faults;
}
