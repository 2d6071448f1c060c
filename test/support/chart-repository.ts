import { createHash } from "node:crypto";
import { appendFileSync, createReadStream, readFileSync, writeFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { parse, stringify } from "yaml";
import { run } from "../../sandbox/nodes/command";

/** The folder of a chart, and the folders of those that it depends on. */
export interface ChartSource {
  readonly folder: string;
  readonly dependencies?: readonly string[];
}

interface ChartMetadata {
  readonly apiVersion: string;
  readonly name: string;
  readonly version: string;
  readonly digest: string;
}

/** A repository of Helm charts on 127.0.0.1: packed charts and their index.yaml. */
export class ChartRepository {
  /** Paths that were requested. */
  readonly requests: string[] = [];

  private constructor(
    private readonly folder: string,
    private readonly server: Server,
  ) {}

  static async start(charts: readonly ChartSource[]): Promise<ChartRepository> {
    const folder = await mkdtemp(path.join(tmpdir(), "charts-"));
    const packed: ChartMetadata[] = [];
    for (const chart of charts) packed.push(await pack(chart, folder));
    const entries = packed.map((chart) => [chart.name, [{ ...chart, urls: [fileOf(chart)] }]] as const);
    const index = { apiVersion: "v1", entries: Object.fromEntries(entries) };
    await writeFile(path.join(folder, "index.yaml"), stringify(index));
    const served = ["index.yaml", ...packed.map(fileOf)];
    const server = createServer((request, response) => {
      const file = (request.url ?? "/").slice(1);
      repository.requests.push(file);
      if (!served.includes(file)) return void response.writeHead(404).end();
      createReadStream(path.join(folder, file)).pipe(response);
    });
    const repository = new ChartRepository(folder, server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return repository;
  }

  /** Changes the content of a packed chart, and on request its digest in the index. */
  tamper(file: string, hasIndex = false): void {
    const [archive, index] = [path.join(this.folder, file), path.join(this.folder, "index.yaml")];
    const digest = () => createHash("sha256").update(readFileSync(archive)).digest("hex");
    const before = digest();
    appendFileSync(archive, "x");
    if (hasIndex) writeFileSync(index, readFileSync(index, "utf8").replaceAll(before, digest()));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await rm(this.folder, { recursive: true, force: true });
  }
}

function fileOf({ name, version }: Pick<ChartMetadata, "name" | "version">): string {
  return `${name}-${version}.tgz`;
}

async function pack({ folder, dependencies = [] }: ChartSource, target: string): Promise<ChartMetadata> {
  const metadata = parse(await readFile(path.join(folder, "Chart.yaml"), "utf8")) as Omit<
    ChartMetadata,
    "digest"
  >;
  const unpacked = path.join(target, "unpacked");
  const chart = path.join(unpacked, metadata.name);
  await cp(folder, chart, { recursive: true });
  for (const dependency of dependencies) {
    const ref = path.join(chart, "charts", path.basename(dependency));
    await mkdir(path.dirname(ref), { recursive: true });
    await cp(dependency, ref, { recursive: true });
  }
  const archive = path.join(target, fileOf(metadata));
  await run("tar", ["-czf", archive, "-C", unpacked, metadata.name]);
  const { apiVersion, name, version } = metadata;
  const digest = createHash("sha256")
    .update(await readFile(archive))
    .digest("hex");
  return { apiVersion, name, version, digest };
}
