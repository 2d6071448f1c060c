import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Reporter } from "../../../../sandbox/progress";
import { obtain } from "../../../../sandbox/toolchain/obtain";
import type { Program } from "../../../../sandbox/toolchain/program";
import { serveFiles, type Answer, type FileServer } from "./file-server";

const content = Buffer.from("downloaded");
const sum = createHash("sha256").update(content).digest("hex");
const published = { "/get.example/tool": content, "/get.example/tool.sha256": Buffer.from(sum) };

const tool: Program = {
  name: "tool",
  version: "1.2.3",
  title: "tool 1.2.3",
  folder: "programs/tool-1.2.3",
  files: ["tool"],
  downloads: [{ url: "https://get.example/tool", checksums: "https://get.example/tool.sha256" }],
  builds: [{ module: "tool", packages: { tool: "." }, ldflags: "-X main.version=1.2.3" }],
};

describe("obtaining a program", () => {
  let cache: string;
  let modules: string;
  let titles: string[];
  let server: FileServer | undefined;
  const before = { path: process.env["PATH"], downloads: process.env["FORESAIL_DOWNLOADS"] };
  const report: Reporter = {
    step(title, work) {
      titles.push(title);
      return work(() => undefined);
    },
  };

  /** Puts a `go` on PATH that records its arguments and runs the shell lines. */
  async function fakeGo(lines: string): Promise<void> {
    const folder = path.join(cache, "fake-go");
    await mkdir(folder);
    const script = `#!/bin/sh\necho "$GOFLAGS|$GOMODCACHE|$*" >> ${cache}/go-calls\n${lines}\n`;
    await writeFile(path.join(folder, "go"), script);
    await chmod(path.join(folder, "go"), 0o755);
    process.env["PATH"] = `${folder}:${before.path}`;
  }
  const writesOutput = `while [ "$1" != -o ]; do shift; done; echo built > "$2"`;
  const goCalls = () => readFile(path.join(cache, "go-calls"), "utf8").catch(() => "");
  const installed = () => readFile(path.join(cache, "programs/tool-1.2.3/tool"), "utf8");

  async function publish(files: Record<string, Answer>): Promise<void> {
    server = await serveFiles(files);
    process.env["FORESAIL_DOWNLOADS"] = server.url;
  }

  beforeEach(async () => {
    cache = await mkdtemp(path.join(tmpdir(), "foresail-obtain-"));
    modules = path.join(cache, "modules");
    titles = [];
    await mkdir(path.join(modules, "tool"), { recursive: true });
    await writeFile(path.join(modules, "tool", "go.mod"), "module tool\n");
    process.env["FORESAIL_DOWNLOADS"] = "off";
  });
  afterEach(async () => {
    process.env["PATH"] = before.path;
    if (before.downloads === undefined) delete process.env["FORESAIL_DOWNLOADS"];
    else process.env["FORESAIL_DOWNLOADS"] = before.downloads;
    await server?.close();
    server = undefined;
    await rm(cache, { recursive: true, force: true });
  });

  it("uses what is installed before it downloads or builds", async () => {
    await publish(published);
    await writeFile(path.join(cache, "mine"), "installed");
    const program = { ...tool, installed: () => Promise.resolve({ tool: path.join(cache, "mine") }) };
    const { stamp } = await obtain(program, report, cache, { modules });
    assert.deepEqual([stamp.from, await installed(), server?.requests], ["installed", "installed", []]);
  });

  it("downloads before it builds", async () => {
    await publish(published);
    await fakeGo(writesOutput);
    const { stamp } = await obtain(tool, report, cache, { modules });
    assert.deepEqual([stamp.from, await installed(), await goCalls()], ["downloaded", "downloaded", ""]);
  });

  const failures: [string, Record<string, Answer>][] = [
    ["is not published", {}],
    ["has the wrong checksum", { ...published, "/get.example/tool": Buffer.from("tampered") }],
  ];
  for (const [what, files] of failures) {
    it(`builds from the pinned module when the download ${what}`, async () => {
      await publish(files);
      await fakeGo(writesOutput);
      const { stamp } = await obtain(tool, report, cache, { modules });
      assert.deepEqual([stamp.from, await installed()], ["built", "built\n"]);
      const calls = await goCalls();
      assert.match(
        calls,
        /-buildvcs=false -trimpath\|.*\/go\/pkg\/mod\|build -mod=readonly .*main\.version=1\.2\.3/,
      );
    });
  }

  it("accepts the stamp on the next run, without a step", async () => {
    await fakeGo(writesOutput);
    await obtain(tool, report, cache, { modules });
    const calls = await goCalls();
    await obtain(tool, report, cache, { modules });
    assert.deepEqual([titles, await goCalls()], [["tool 1.2.3"], calls]);
  });

  it("installs again when the pinned module changed or a file is missing", async () => {
    await fakeGo(writesOutput);
    await obtain(tool, report, cache, { modules });
    await writeFile(path.join(modules, "tool", "go.sum"), "another pin");
    await obtain(tool, report, cache, { modules });
    await rm(path.join(cache, "programs/tool-1.2.3/tool"));
    await obtain(tool, report, cache, { modules });
    assert.equal((await goCalls()).split("\n").length - 1, 3);
  });

  it("runs once when two setups start at the same time", async () => {
    await fakeGo(`sleep 0.3; ${writesOutput}`);
    const both = [1, 2].map(() => obtain(tool, report, cache, { modules }));
    await Promise.all(both);
    assert.equal((await goCalls()).split("\n").length - 1, 1);
  });

  it("reports which module did not build, why, and what was tried before", async () => {
    await fakeGo("echo 'main.go:3: undefined: thing' >&2; exit 1");
    await assert.rejects(obtain(tool, report, cache, { modules }), (error: Error) => {
      assert.match(error.message, /tool 1\.2\.3 could be neither downloaded nor built/);
      assert.match(error.message, /downloads are switched off/);
      assert.match(
        error.message,
        /modules\/tool\) did not build.*ended with status 1:\nmain\.go:3: undefined: thing/s,
      );
      return true;
    });
    assert.deepEqual(await readdir(path.join(cache, "work")), [], "nothing half made is left");
  });

  it("names Go and where to get it when Go is missing", async () => {
    process.env["PATH"] = path.join(cache, "nowhere");
    await assert.rejects(
      obtain(tool, report, cache, { modules }),
      /Go is missing; install Go 1\.26.*go\.dev/s,
    );
  });

  it("falls back to a substitute where nothing can be built", async () => {
    const program = { ...tool, builds: [], replacement: { tool: "#!/bin/sh\necho replacement\n" } };
    await obtain(program, report, cache, { modules });
    assert.match(await installed(), /replacement/);
  });
});
