import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isObject, readJsonObjectOf } from "../../../../lib/json";
import type { ImageReference } from "../../plan/bundle/image-reference";
import type { Architecture } from "../../plan/bundle/software";
import { ask, contentOf, persistently, type BundleRequests, UnexpectedStatus } from "./persistence";
import { authorizationFor } from "./registry-login";

/** A blob of an image: its configuration, or a layer. */
export interface ImageBlob {
  readonly sha256: string;
  /** In bytes. */
  readonly size: number;
}

/** An image as its registry has it. */
export interface ResolvedImage {
  readonly reference: ImageReference;
  /** What the registry has under the name, as an OCI layout describes it. */
  readonly root: { readonly mediaType: string; readonly digest: string; readonly size: number };
  /** The manifest of the processor, after the index of all processors if there is one. */
  readonly manifests: readonly Buffer[];
  readonly blobs: readonly ImageBlob[];
}

const INDEXES = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
];
const MANIFESTS = [
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
];
const MOST_MANIFEST_BYTES = 8 << 20;

export const contentSum = (content: Buffer): string => createHash("sha256").update(content).digest("hex");

/** Reads images by the OCI distribution API. */
export class RegistryClient {
  /** Headers by registry and repository. */
  private readonly authorizations = new Map<string, string>();

  /**
   * @param mirrors addresses of registries that have the images of another one under the same paths, by its host; "" for all others
   * @param logins "user:password" in base64, by host
   */
  constructor(
    private readonly mirrors: ReadonlyMap<string, string>,
    private readonly logins: ReadonlyMap<string, string>,
    private readonly idleMilliseconds: number,
  ) {}

  /** Returns where an image of a name is, for one processor. @throws Error if there is none */
  async resolve(
    reference: ImageReference,
    architecture: Architecture,
    requests: BundleRequests,
  ): Promise<ResolvedImage> {
    const first = await this.manifest(reference, reference.version, requests);
    const manifests = [first];
    if (INDEXES.includes(first.mediaType)) {
      const { manifests: entries } = first.json;
      const entry = Array.isArray(entries)
        ? (entries as unknown[]).find((each) => isFor(each, architecture))
        : undefined;
      if (!isDescriptor(entry)) throw new Error(`${reference.name} has no image for linux/${architecture}`);
      manifests.push(await this.manifest(reference, entry.digest, requests));
    }
    const { json, mediaType } = manifests.at(-1) ?? first;
    if (!MANIFESTS.includes(mediaType))
      throw new Error(`${reference.name} has the type ${mediaType}, which is not that of an image`);
    const { config, layers } = json;
    const blobs = [config, ...(Array.isArray(layers) ? (layers as unknown[]) : [])];
    if (!blobs.every(isDescriptor)) throw new Error(`the manifest of ${reference.name} has a wrong layer`);
    const [settings] = blobs;
    if (settings === undefined || (await this.processorOf(reference, settings, requests)) !== architecture)
      throw new Error(`${reference.name} is not for linux/${architecture}`);
    return {
      reference,
      root: {
        mediaType: first.mediaType,
        digest: `sha256:${contentSum(first.content)}`,
        size: first.content.length,
      },
      manifests: manifests.map(({ content }) => content),
      blobs: blobs.map(({ digest, size }) => ({ sha256: digest.slice("sha256:".length), size })),
    };
  }

  /** Returns the address of a blob. */
  blobUrl(reference: ImageReference, { sha256 }: ImageBlob): string {
    return `${this.baseOf(reference)}/blobs/sha256:${sha256}`;
  }

  /** Sends a request for an image, after a login where the registry asks for one. */
  async send(
    reference: ImageReference,
    ...[url, sent, accepted]: Parameters<typeof ask>
  ): Promise<IncomingMessage> {
    const base = this.baseOf(reference);
    const attempt = () => {
      const authorization = this.authorizations.get(base);
      const headers = { ...sent?.headers, ...(authorization !== undefined && { authorization }) };
      return ask(url, { ...sent, headers }, accepted);
    };
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof UnexpectedStatus) || error.status !== 401 || error.challenge === undefined)
        throw error;
      this.authorizations.set(base, await this.authorization(reference, error.challenge));
      return attempt();
    }
  }

  private authorization(reference: ImageReference, challenge: string): Promise<string> {
    const { host, pathname } = new URL(this.baseOf(reference));
    const login = this.logins.get(host) ?? this.logins.get(reference.registry);
    const known = {
      host,
      repository: pathname.replace(/^\/v2\//, ""),
      ...(login !== undefined && { login }),
    };
    return authorizationFor(challenge, known, this.idleMilliseconds);
  }

  /** Reads something small of an image. */
  private read<T>(
    reference: ImageReference,
    path: string,
    requests: BundleRequests,
    parse: (content: Buffer, response: IncomingMessage) => T,
  ): Promise<T> {
    return persistently(reference.name, requests, async (_, signal) => {
      const headers = { accept: [...INDEXES, ...MANIFESTS].join(", ") };
      const sent = { headers, signal, idleMilliseconds: this.idleMilliseconds };
      const response = await this.send(reference, `${this.baseOf(reference)}/${path}`, sent, [200]);
      const content = await contentOf(response, MOST_MANIFEST_BYTES);
      const digest = path.slice(path.indexOf("/") + 1);
      if (digest.includes(":") && `sha256:${contentSum(content)}` !== digest)
        throw new Error(`the registry sent something else than ${digest}`);
      return parse(content, response);
    });
  }

  private manifest(reference: ImageReference, version: string, requests: BundleRequests) {
    return this.read(reference, `manifests/${version}`, requests, (content, { headers }) => {
      const json = readJsonObjectOf("its manifest", content.toString());
      const { mediaType = (headers["content-type"] ?? "").replace(/;.*/, "") } = json;
      return { content, json, mediaType: typeof mediaType === "string" ? mediaType : "" };
    });
  }

  /** A manifest that is in no index does not say for which processor it is. */
  private processorOf(reference: ImageReference, { digest }: ImageDescriptor, requests: BundleRequests) {
    return this.read(
      reference,
      `blobs/${digest}`,
      requests,
      (content) => readJsonObjectOf("its configuration", content.toString())["architecture"],
    );
  }

  private baseOf({ registry, repository }: ImageReference): string {
    const mirror = this.mirrors.get(registry) ?? this.mirrors.get("");
    const own = registry === "docker.io" ? "registry-1.docker.io" : registry;
    const { origin, pathname } = new URL(mirror ?? `https://${own}`);
    return `${origin}/v2${pathname.replace(/\/+$/, "")}/${repository}`;
  }
}

interface ImageDescriptor {
  readonly digest: string;
  readonly size: number;
}

function isDescriptor(value: unknown): value is ImageDescriptor {
  return (
    isObject(value) &&
    /^sha256:[0-9a-f]{64}$/.test(String(value["digest"])) &&
    typeof value["size"] === "number" &&
    Number.isSafeInteger(value["size"]) &&
    value["size"] >= 0
  );
}

function isFor(entry: unknown, architecture: Architecture): boolean {
  const platform = isObject(entry) ? entry["platform"] : undefined;
  if (!isObject(platform) || platform["os"] !== "linux" || platform["architecture"] !== architecture)
    return false;
  return [undefined, "v8"].includes(platform["variant"] as string | undefined);
}
