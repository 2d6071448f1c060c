import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { parse, stringify } from "yaml";
import { copyWithoutDefaults } from "../../../../providers/helm/client/chart-copy";
import { run } from "../../../../sandbox/nodes/command";
import { ChartRepository } from "../../../support/chart-repository";

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
    const copy = await copyWithoutDefaults(
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
    const one = await copyWithoutDefaults(source(), [["keep"]], copies());
    const before = repository.requests.length;
    assert.equal(await copyWithoutDefaults(source(), [["keep"]], copies()), one);
    assert.equal(repository.requests.length, before);
    assert.notEqual(await copyWithoutDefaults(source(), [["mirrors"]], copies()), one);
  });

  it("comes from a folder or an archive, and follows their content", async () => {
    const chart = path.join(folder, "child");
    const fromFolder = await copyWithoutDefaults({ chart }, [["port"]], copies());
    assert.deepEqual(await read(path.join(fromFolder, "values.yaml")), { name: "child" });
    const archive = path.join(folder, "child-1.2.3.tgz");
    await run("tar", ["-czf", archive, "-C", folder, "child"]);
    const fromArchive = await copyWithoutDefaults({ chart: archive }, [["name"]], copies());
    assert.deepEqual(await read(path.join(fromArchive, "values.yaml")), { port: 80 });
    await writeFile(path.join(chart, "templates", "two.yaml"), "kind: Two\n");
    assert.notEqual(await copyWithoutDefaults({ chart }, [["port"]], copies()), fromFolder);
  });

  it("unpacks a dependency that the chart has as an archive", async () => {
    const parent = await writeChart("parent", { keep: true });
    await mkdir(path.join(parent, "charts"), { recursive: true });
    await run("tar", ["-czf", path.join(parent, "charts", "child-1.2.3.tgz"), "-C", folder, "child"]);
    const copy = await copyWithoutDefaults({ chart: parent }, [["child", "port"]], copies());
    assert.deepEqual(await readdir(path.join(copy, "charts")), ["child"]);
    assert.deepEqual(await read(path.join(copy, "charts/child/values.yaml")), { name: "child" });
  });

  it("names the address of a repository that does not answer, and leaves no partial copy", async () => {
    const gone = { chart: "parent", repository: `${repository.url}/gone`, version: "1.2.3" };
    await assert.rejects(copyWithoutDefaults(gone, [["a"]], copies()), /gone\/index\.yaml \(404 Not Found\)/);
    await assert.rejects(
      copyWithoutDefaults({ ...source(), version: "9.9.9" }, [["a"]], copies()),
      /has no chart parent 9\.9\.9/,
    );
    assert.deepEqual(
      (await readdir(copies())).filter((name) => name.startsWith("draft-")),
      [],
    );
  });

  it("refuses an archive that is not the one in the index", async () => {
    repository.tamper("parent-1.2.3.tgz");
    await assert.rejects(copyWithoutDefaults(source(), [["b"]], copies()), /does not have the digest/);
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
    await assert.rejects(copyWithoutDefaults({ chart: archive }, [["port"]], copies()), /symlink|link/i);

    const climbing = await writeChart("climbing", {});
    const metadata = {
      name: "climbing",
      version: "1.0.0",
      dependencies: [{ name: "../../..", alias: "up" }],
    };
    await writeFile(path.join(climbing, "Chart.yaml"), stringify(metadata));
    await assert.rejects(
      copyWithoutDefaults({ chart: climbing }, [["up", "port"]], copies()),
      /"\.\.\/\.\.\/\.\." is not a valid name/,
    );
    assert.equal(await readFile(outside, "utf8"), "port: 1\n");
  });
});
