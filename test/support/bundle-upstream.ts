import { createHash } from "node:crypto";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { publishedFiles, RUNTIME_VERSIONS } from "../../providers/kubeadm/plan/bundle/software";

/** What is served: bytes, or a file whose SHA-256 is known. */
export type Content = Buffer | { readonly file: string; readonly sha256: string };

interface Served {
  readonly content: Content;
  readonly type?: string;
}

/** An image to publish: its configuration and layers. */
interface PublishedImage {
  readonly repository: string;
  readonly tag: string;
  readonly config: Content;
  readonly layers: readonly Content[];
}

const OCI = "application/vnd.oci.image";
const sha256 = (content: Content) =>
  Buffer.isBuffer(content) ? createHash("sha256").update(content).digest("hex") : content.sha256;
const sizeOf = async (content: Content) =>
  Buffer.isBuffer(content) ? content.length : (await stat(content.file)).size;

/** A server that publishes programs as the projects do, and images by the OCI distribution API. */
export class BundleUpstream {
  readonly served = new Map<string, Served>();
  /** "GET /path" of each request, with its range. */
  readonly requests: string[] = [];
  /** Answers a request in another way, and returns true for it. */
  intercept: (request: IncomingMessage, response: ServerResponse) => boolean = () => false;

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      const { range } = request.headers;
      this.requests.push(`${request.method} ${request.url}${range === undefined ? "" : ` ${range}`}`);
      if (!this.intercept(request, response)) void this.answer(request, response);
    });
  }

  static async start(): Promise<BundleUpstream> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new BundleUpstream(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
  }

  /** Publishes programs with their checksums. @param contents by name; the runtime's default to a few bytes */
  publishPrograms(
    kubernetes: string,
    architecture: "amd64" | "arm64",
    contents: Readonly<Record<string, Content>>,
  ): void {
    const versions = { kubernetes, ...RUNTIME_VERSIONS };
    for (const { name, url, sums } of publishedFiles(versions, architecture, this.url)) {
      const content = contents[name] ?? Buffer.from(`${name} for ${architecture}`);
      const sum = sha256(content);
      const [path, list] = [url, sums].map((each) => each.slice(this.url.length)) as [string, string];
      const file = path.slice(path.lastIndexOf("/") + 1);
      const lines: Record<string, string> = {
        runc: `${"0".repeat(64)} *runc.s390x\n${sum} *${file}\n`,
        containerd: `${sum}  ${file}\n`,
        "cni-plugins": `${sum}  ${file}\n`,
      };
      this.served.set(path, { content });
      this.served.set(list, { content: Buffer.from(lines[name] ?? sum) });
    }
  }

  /** Publishes an image under an index that has another processor, too, whose manifest is not there. @returns the index's digest */
  async publishImage(
    { repository, tag, config, layers }: PublishedImage,
    architecture = "amd64",
  ): Promise<string> {
    const base = `/v2/${repository}`;
    const describe = async (mediaType: string, content: Content) => {
      const digest = `sha256:${sha256(content)}`;
      this.served.set(`${base}/blobs/${digest}`, { content });
      return { mediaType, digest, size: await sizeOf(content) };
    };
    const described = [];
    for (const layer of layers) described.push(await describe(`${OCI}.layer.v1.tar`, layer));
    const put = (name: string, kind: "manifest" | "index", value: object) => {
      const mediaType = `${OCI}.${kind}.v1+json`;
      const content = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType, ...value }));
      const digest = `sha256:${sha256(content)}`;
      for (const each of [name, digest])
        this.served.set(`${base}/manifests/${each}`, { content, type: mediaType });
      return { mediaType, digest, size: content.length };
    };
    const manifest = put(`${tag}-${architecture}`, "manifest", {
      config: await describe(`${OCI}.config.v1+json`, config),
      layers: described,
    });
    const other = {
      ...manifest,
      digest: `sha256:${"1".repeat(64)}`,
      platform: { os: "linux", architecture: "ppc64le" },
    };
    const own = { ...manifest, platform: { os: "linux", architecture } };
    return put(tag, "index", { manifests: [other, own] }).digest;
  }

  private async answer(
    { method, url = "", headers }: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const found = this.served.get(url);
    if (found === undefined) return void response.writeHead(404).end();
    const { content, type = "application/octet-stream" } = found;
    const size = await sizeOf(content);
    const start = Number(/^bytes=(\d+)-$/.exec(headers.range ?? "")?.[1] ?? 0);
    if (start > 0 && start >= size) return void response.writeHead(416).end();
    response.writeHead(start > 0 ? 206 : 200, {
      ...{ "content-type": type, "content-length": size - start },
      ...(start > 0 && { "content-range": `bytes ${start}-${size - 1}/${size}` }),
    });
    if (method === "HEAD") response.end();
    else if (Buffer.isBuffer(content)) response.end(content.subarray(start));
    else createReadStream(content.file, { start, highWaterMark: 1 << 20 }).pipe(response);
  }
}
