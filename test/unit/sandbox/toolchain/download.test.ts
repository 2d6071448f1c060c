import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { download, DownloadUnavailable } from "../../../../sandbox/toolchain/download";
import { serveFiles, type Answer, type FileServer } from "./file-server";

const content = Buffer.from("a program of some length ".repeat(400));
const sum = createHash("sha256").update(content).digest("hex");
const patient = { answer: 10_000, silence: 10_000 };

describe("downloading a program", () => {
  let folder: string;
  let server: FileServer | undefined;

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "foresail-download-"));
  });
  afterEach(async () => {
    await server?.close();
    server = undefined;
    await rm(folder, { recursive: true, force: true });
  });

  async function fetchFrom(files: Record<string, Answer>, patience = patient): Promise<string> {
    server = await serveFiles(files);
    const source = { url: `${server.url}/program`, checksums: `${server.url}/sums` };
    const file = path.join(folder, "program");
    await download(source, "program", file, () => undefined, patience);
    return file;
  }

  const unavailable = (pattern: RegExp) => (error: unknown) =>
    error instanceof DownloadUnavailable && pattern.test(error.message);

  it("keeps a file with the published checksum", async () => {
    const file = await fetchFrom({ "/program": content, "/sums": Buffer.from(`${sum}  program\n`) });
    assert.deepEqual(await readFile(file), content);
    assert.deepEqual(await readdir(folder), ["program"]);
  });

  it("refuses and deletes a file with another checksum", async () => {
    const files = { "/program": content, "/sums": Buffer.from(`${"0".repeat(64)}  program\n`) };
    await assert.rejects(fetchFrom(files), unavailable(/SHA-256 is .* published is 0{64}/));
    assert.deepEqual(await readdir(folder), []);
  });

  it("requests only the rest of a file that an earlier run began", async () => {
    await writeFile(path.join(folder, "program.part"), content.subarray(0, 1000));
    const file = await fetchFrom({ "/program": content, "/sums": Buffer.from(sum) });
    assert.deepEqual(await readFile(file), content);
    assert.ok(server?.requests.includes("/program bytes=1000-"), server?.requests.join());
  });

  it("uses a partial file that was already complete", async () => {
    await writeFile(path.join(folder, "program.part"), content);
    const file = await fetchFrom({ "/program": content, "/sums": Buffer.from(sum) });
    assert.deepEqual(await readFile(file), content);
  });

  it("starts over when the host can't continue a file", async () => {
    await writeFile(path.join(folder, "program.part"), "something else");
    const file = await fetchFrom({
      "/program": (_request, response) => response.writeHead(200).end(content),
      "/sums": Buffer.from(sum),
    });
    assert.deepEqual(await readFile(file), content);
  });

  it("keeps what arrived before the connection broke, for the next run", async () => {
    const files: Record<string, Answer> = {
      "/program": (_request, response) => {
        response.writeHead(200, { "content-length": content.length });
        response.write(content.subarray(0, 5000), () => setTimeout(() => response.destroy(), 20));
      },
      "/sums": Buffer.from(sum),
    };
    await assert.rejects(fetchFrom(files), DownloadUnavailable);
    assert.equal((await readFile(path.join(folder, "program.part"))).length, 5000);
  });

  it("gives up on a host that refuses the connection", async () => {
    const closed = await serveFiles({});
    await closed.close();
    const source = { url: `${closed.url}/program`, checksums: `${closed.url}/sums` };
    const refused = download(source, "program", path.join(folder, "program"), () => undefined, patient);
    await assert.rejects(refused, unavailable(/ECONNREFUSED/));
  });

  it("gives up on a host that does not answer in time", async () => {
    const files = { "/sums": () => undefined, "/program": content };
    await assert.rejects(
      fetchFrom(files, { ...patient, answer: 200 }),
      unavailable(/sums: no answer within 0.2 s/),
    );
  });

  it("gives up on a host that stops sending in the middle of a file", async () => {
    const files: Record<string, Answer> = {
      "/program": (_request, response) => void response.writeHead(200).write(content.subarray(0, 100)),
      "/sums": Buffer.from(sum),
    };
    await assert.rejects(
      fetchFrom(files, { ...patient, silence: 200 }),
      unavailable(/program: no answer within 0.2 s/),
    );
  });

  it("gives up when the checksums do not name the file", async () => {
    const files = { "/program": content, "/sums": Buffer.from(`${sum}  other\n${sum}  another\n`) };
    await assert.rejects(fetchFrom(files), unavailable(/do not name program/));
  });
});
