import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { parse, stringify } from "yaml";
import { copyChart, copyManifest } from "../../../../providers/helm/client/chart-copy";
import { run } from "../../../../sandbox/nodes/command";
import { ChartRepository } from "../../../support/chart-repository";

const digestOf = (content: Buffer) => `sha256:${createHash("sha256").update(content).digest("hex")}`;

describe("a copy of a chart without defaults", () => {
  let folder: string;
  let repository: ChartRepository;
  const copies = () => path.join(folder, "copies");
  const read = async (file: string) => parse(await readFile(file, "utf8")) as unknown;
  const source = () => ({ chart: "parent", repository: repository.url, version: "1.2.3" });

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "chart-copy-"));
    const parent = await writeChart("parent", { mirrors: { "docker.io": ["a"], other: 1 }, keep: true });
    const child = await writeChart("child", { port: 80, name: "child" });
    repository = await ChartRepository.start([{ folder: parent, dependencies: [child] }]);
  });
  after(async () => {
    await repository.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function writeChart(name: string, values: object): Promise<string> {
    const chart = path.join(folder, name);
    await mkdir(path.join(chart, "templates"), { recursive: true });
    const dependencies = name === "parent" ? { dependencies: [{ name: "child", version: "1.2.3" }] } : {};
    await writeFile(
      path.join(chart, "Chart.yaml"),
      stringify({ apiVersion: "v2", name, version: "1.2.3", ...dependencies }),
    );
    await writeFile(path.join(chart, "values.yaml"), stringify(values));
    await writeFile(path.join(chart, "templates", "one.yaml"), "kind: One\n");
    return chart;
  }

  it("comes from a repository, without the defaults and with everything else", async () => {
    const copy = await copyChart(
      source(),
      [
        ["mirrors", "docker.io"],
        ["child", "port"],
        ["unknown", "key"],
      ],
      copies(),
    );
    assert.match(copy, /\/copies\/parent-[0-9a-z]{12}$/);
    assert.deepEqual(await read(path.join(copy, "values.yaml")), { mirrors: { other: 1 }, keep: true });
    assert.deepEqual(await read(path.join(copy, "charts/child/values.yaml")), { name: "child" });
    assert.equal(await readFile(path.join(copy, "templates/one.yaml"), "utf8"), "kind: One\n");
  });

  it("is reused without a request to the repository, and created again for other defaults", async () => {
    const one = await copyChart(source(), [["keep"]], copies());
    const before = repository.requests.length;
    assert.equal(await copyChart(source(), [["keep"]], copies()), one);
    assert.equal(repository.requests.length, before);
    assert.notEqual(await copyChart(source(), [["mirrors"]], copies()), one);
  });

  it("comes from a folder or an archive, and follows their content", async () => {
    const chart = path.join(folder, "child");
    const fromFolder = await copyChart({ chart }, [["port"]], copies());
    assert.deepEqual(await read(path.join(fromFolder, "values.yaml")), { name: "child" });
    const archive = path.join(folder, "child-1.2.3.tgz");
    await run("tar", ["-czf", archive, "-C", folder, "child"]);
    const fromArchive = await copyChart({ chart: archive }, [["name"]], copies());
    assert.deepEqual(await read(path.join(fromArchive, "values.yaml")), { port: 80 });
    await writeFile(path.join(chart, "templates", "two.yaml"), "kind: Two\n");
    assert.notEqual(await copyChart({ chart }, [["port"]], copies()), fromFolder);
  });

  it("unpacks a dependency that the chart has as an archive", async () => {
    const parent = await writeChart("parent", { keep: true });
    await mkdir(path.join(parent, "charts"), { recursive: true });
    await run("tar", ["-czf", path.join(parent, "charts", "child-1.2.3.tgz"), "-C", folder, "child"]);
    const copy = await copyChart({ chart: parent }, [["child", "port"]], copies());
    assert.deepEqual(await readdir(path.join(copy, "charts")), ["child"]);
    assert.deepEqual(await read(path.join(copy, "charts/child/values.yaml")), { name: "child" });
  });

  it("names the address of a repository that does not answer, and leaves no partial copy", async () => {
    const gone = { chart: "parent", repository: `${repository.url}/gone`, version: "1.2.3" };
    await assert.rejects(copyChart(gone, [["a"]], copies()), /gone\/index\.yaml \(404 Not Found\)/);
    await assert.rejects(
      copyChart({ ...source(), version: "9.9.9" }, [["a"]], copies()),
      /has no chart parent 9\.9\.9/,
    );
    assert.deepEqual(
      (await readdir(copies())).filter((name) => name.startsWith("draft-")),
      [],
    );
  });

  it("has the content of an archive with the given digest, and of no other", async () => {
    const file = "parent-1.2.3.tgz";
    const answer = await fetch(`${repository.url}/${file}`);
    const digest = digestOf(Buffer.from(await answer.arrayBuffer()));
    const copy = await copyChart({ ...source(), digest }, [], copies());
    assert.equal(await readFile(path.join(copy, "templates/one.yaml"), "utf8"), "kind: One\n");
    const before = await readdir(copies());
    const wrong = `sha256:${"0".repeat(64)}`;
    await assert.rejects(
      copyChart({ ...source(), digest: wrong }, [], copies()),
      new RegExp(`the chart parent 1\\.2\\.3 of .* has the digest ${digest}, and ${wrong} is expected`),
    );
    assert.deepEqual(await readdir(copies()), before);
  });

  it("of manifests has the given digest, also when the copy was changed since", async () => {
    const url = `${repository.url}/index.yaml`;
    const content = Buffer.from(await (await fetch(url)).arrayBuffer());
    const digest = digestOf(content);
    const manifests = path.join(folder, "manifests");
    await assert.rejects(copyManifest(url, `sha256:${"0".repeat(64)}`, manifests), /has the digest sha256:/);
    await assert.rejects(readdir(manifests), /ENOENT/);
    const copy = await copyManifest(url, digest, manifests);
    assert.deepEqual(await readFile(copy), content);
    const before = repository.requests.length;
    assert.equal(await copyManifest(url, digest, manifests), copy);
    assert.equal(repository.requests.length, before);
    await writeFile(copy, "kind: Evil\n");
    await assert.rejects(copyManifest(url, digest, manifests), /is expected, so nothing of it was used/);
  });

  it("refuses an archive that a repository changed together with its index", async () => {
    const archive = Buffer.from(await (await fetch(`${repository.url}/parent-1.2.3.tgz`)).arrayBuffer());
    repository.tamper("parent-1.2.3.tgz", true);
    const digest = digestOf(archive);
    await assert.rejects(copyChart({ ...source(), digest }, [["c"]], copies()), /nothing of it was used/);
  });

  it("is downloaded through the proxy of the environment, except from hosts that need none", async () => {
    const asked: string[] = [];
    const proxy = createServer().on("connect", (request: IncomingMessage, socket: Socket) => {
      asked.push(request.url ?? "");
      socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    process.env.HTTPS_PROXY = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    process.env.NO_PROXY = "intranet.invalid,.local.invalid";
    try {
      for (const host of ["charts.invalid", "intranet.invalid", "a.local.invalid"])
        await assert.rejects(
          copyChart({ chart: "a", repository: `https://${host}` }, [], copies()),
          /cannot/,
        );
      assert.deepEqual(asked, ["charts.invalid:443"]);
    } finally {
      delete process.env.HTTPS_PROXY;
      delete process.env.NO_PROXY;
      proxy.close();
    }
  });

  it("refuses an archive that is not the one in the index", async () => {
    repository.tamper("parent-1.2.3.tgz");
    await assert.rejects(copyChart(source(), [["b"]], copies()), /does not have the digest/);
  });

  it("writes no file outside of the copy, whatever links and names a chart has", async () => {
    const outside = path.join(folder, "values.yaml");
    await writeFile(outside, "port: 1\n");
    const linking = path.join(folder, "linking");
    await mkdir(linking);
    await writeFile(path.join(linking, "Chart.yaml"), stringify({ name: "linking", version: "1.0.0" }));
    await symlink(outside, path.join(linking, "values.yaml"));
    const archive = path.join(folder, "linking.tgz");
    await run("tar", ["-czf", archive, "-C", folder, "linking"]);
    await assert.rejects(copyChart({ chart: archive }, [["port"]], copies()), /symlink|link/i);

    const climbing = await writeChart("climbing", {});
    const metadata = {
      name: "climbing",
      version: "1.0.0",
      dependencies: [{ name: "../../..", alias: "up" }],
    };
    await writeFile(path.join(climbing, "Chart.yaml"), stringify(metadata));
    await assert.rejects(
      copyChart({ chart: climbing }, [["up", "port"]], copies()),
      /"\.\.\/\.\.\/\.\." is not a valid name/,
    );
    assert.equal(await readFile(outside, "utf8"), "port: 1\n");
  });

  it("removes the drafts of a killed process, and none of a running one", async () => {
    const killed = spawnSync(process.execPath, ["-e", ""]).pid;
    const drafts = [`draft-${killed}-a`, `draft-${process.ppid}-b`];
    for (const draft of drafts) await mkdir(path.join(copies(), draft, "templates"), { recursive: true });
    await copyChart(source(), [["keep"]], copies());
    const left = (await readdir(copies())).filter((name) => name.startsWith("draft-"));
    assert.deepEqual(left, [drafts[1]]);
    await rm(path.join(copies(), drafts[1]!), { recursive: true });
  });
});
