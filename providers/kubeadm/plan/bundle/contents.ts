import { isObject } from "../../../../lib/json";
import type { Architecture } from "./software";

/** A file of a bundle, as its list has it. */
export interface ListedFile {
  readonly path: string;
  readonly name: string;
  readonly version: string;
  readonly sha256: string;
  /** In bytes. */
  readonly size: number;
  /** Where it was downloaded. */
  readonly from: string;
  readonly source: string;
}

/** An image of a bundle, as its list has it. */
export interface ListedImage {
  /** The complete name, by which the kubelet asks for it. */
  readonly name: string;
  /** Of what the registry has under the name: an index, or the manifest of one processor. */
  readonly digest: string;
  /** The name under which it was downloaded. */
  readonly from: string;
}

/** The content of bundle.json. */
export interface BundleList {
  readonly format: 1;
  readonly kubernetes: string;
  readonly architecture: Architecture;
  readonly files: readonly ListedFile[];
  readonly images: readonly ListedImage[];
}

export const LIST_FILE = "bundle.json";
export const SBOM_FILE = "sbom.cdx.json";
export const SUMS_FILE = "SHA256SUMS";
export const IMAGES_FILE = "images/images.tar";

/** Returns the paths of all files of a bundle, the small ones first. */
export function bundleFiles(files: readonly Pick<ListedFile, "path">[]): string[] {
  return [SUMS_FILE, LIST_FILE, SBOM_FILE, ...files.map(({ path }) => path), IMAGES_FILE];
}

/** Returns a bundle's list as the text of its file. */
export const listText = (list: BundleList): string => `${JSON.stringify(list, undefined, 2)}\n`;

/** Reads the text of a bundle's list; undefined for a file of others. */
export function readList(value: unknown): BundleList | undefined {
  const isList =
    isObject(value) &&
    value["format"] === 1 &&
    typeof value["kubernetes"] === "string" &&
    typeof value["architecture"] === "string" &&
    Array.isArray(value["files"]) &&
    Array.isArray(value["images"]) &&
    value["images"].every((image) => isObject(image) && typeof image["name"] === "string");
  return isList ? (value as unknown as BundleList) : undefined;
}

/** Returns the text of SHA256SUMS, as `sha256sum` writes it: paths with their sums. */
export function sumsText(sums: ReadonlyMap<string, string>): string {
  const paths = [...sums.keys()].sort();
  return paths.map((path) => `${sums.get(path)}  ${path}\n`).join("");
}

/**
 * Returns the software bill of materials of a bundle, in CycloneDX 1.6. It has neither a time nor a random number: the same
 * content has the same text.
 */
export function sbomText({ kubernetes, architecture, files, images }: BundleList, foresail: string): string {
  const hash = (content: string) => [{ alg: "SHA-256", content }];
  const programs = files.map(({ name, version, sha256, source, from }) => ({
    type: "application",
    "bom-ref": `${name}@${version}`,
    name,
    version,
    hashes: hash(sha256),
    licenses: [{ license: { id: "Apache-2.0" } }],
    purl: `pkg:github/${source}@v${version}`,
    externalReferences: [{ type: "distribution", url: from }],
  }));
  const containers = images.map(({ name, digest, from }) => ({
    type: "container",
    "bom-ref": name,
    name,
    version: digest,
    hashes: hash(digest.replace("sha256:", "")),
    purl: imagePurl(from, digest, architecture),
  }));
  const bom = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      tools: { components: [{ type: "application", name: "foresail", version: foresail }] },
      component: { type: "application", name: `kubernetes-${architecture}`, version: kubernetes },
    },
    components: [...programs, ...containers],
  };
  return `${JSON.stringify(bom, undefined, 2)}\n`;
}

function imagePurl(image: string, digest: string, architecture: string): string {
  const path = image.replace(/@.*$|:[^/:]*$/, "");
  const query = new URLSearchParams({ arch: architecture, repository_url: path });
  return `pkg:oci/${path.slice(path.lastIndexOf("/") + 1)}@${encodeURIComponent(digest)}?${query.toString()}`;
}
