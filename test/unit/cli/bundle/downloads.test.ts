import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { BundleRun, KUBELET } from "./bundle-run";
import { smallProgram, VERSION } from "./small-upstream";

describe("the downloads of foresail bundle create", () => {
  let run: BundleRun;

  beforeEach(async () => {
    run = await BundleRun.start();
  });
  afterEach(() => run.end());

  it("refuses a program whose checksum is another one than is published, and uses nothing of it", async () => {
    run.upstream.served.set(KUBELET, { content: smallProgram("other") });
    await run.fails(
      /bin\/kubelet: what 127\.0\.0\.1:\d+ sent has the SHA-256 [0-9a-f]{64}, and [0-9a-f]{64} is published/,
    );
    run.upstream.served.set(KUBELET, { content: smallProgram("kubelet") });
    await run.create();
  });

  it("refuses a program of another processor, although its checksum fits", async () => {
    run.upstream.publishPrograms(VERSION, "amd64", { kubelet: smallProgram("kubelet", 0xb7) });
    await run.fails(/is not a program for linux\/amd64; check the mirror/);
  });

  it("refuses a layer that differs from its digest", async () => {
    const layer =
      [...run.upstream.served.keys()].find((url) => url.includes("/etcd/blobs/") && isLayer(url)) ?? "";
    run.upstream.served.set(layer, { content: Buffer.from("x".repeat(sizeAt(layer))) });
    await run.fails(/registry\.k8s\.io\/etcd:3\.6\.8-0, layer 2 of 2: what .* sent has the SHA-256/);
  });
  const contentAt = (url: string) => (run.upstream.served.get(url)?.content as Buffer).toString();
  const isLayer = (url: string) => contentAt(url).startsWith("a layer of");
  const sizeAt = (url: string) => contentAt(url).length;

  it("says which version does not exist", async () => {
    run.upstream.served.delete(`${KUBELET}.sha256`);
    await run.fails(/the checksum of kubelet: http:.*kubelet\.sha256 answers with 404; check the version/);
    assert.equal(run.requested(`${KUBELET}.sha256`).length, 1);
  });

  it("asks again after 429 and 503, as Retry-After says, and gives up after five attempts", async () => {
    let left = 2;
    run.upstream.intercept = (request, response) => {
      if (request.method !== "GET" || request.url !== KUBELET || left === 0) return false;
      left--;
      response.writeHead(left === 1 ? 503 : 429, { "retry-after": left === 1 ? "0" : "1" }).end();
      return true;
    };
    const started = Date.now();
    await run.create();
    assert.ok(Date.now() - started >= 1_000);
    assert.match(
      run.said.join("\n"),
      /bin\/kubelet: 127\.0\.0\.1:\d+ answers with 429; attempt 3 of 5 in 1 s/,
    );
    left = 99;
    rmSync(path.join(run.folder, "bundle"), { recursive: true });
    run.upstream.intercept = (request, response) => {
      if (request.method !== "GET" || request.url !== KUBELET) return false;
      response.writeHead(500).end();
      return true;
    };
    await run.fails(/bin\/kubelet: .* answers with 500; run the command again, it continues from here/);
  });

  it("continues a download that breaks off or hangs, where it was", async () => {
    const content = smallProgram("kubelet");
    let parts = 0;
    run.upstream.intercept = (request, response) => {
      if (request.method !== "GET" || request.url !== KUBELET || ++parts > 2) return false;
      const start = Number(/\d+/.exec(request.headers.range ?? "0")?.[0]);
      const range = `bytes ${start}-${content.length - 1}/${content.length}`;
      response.writeHead(start > 0 ? 206 : 200, {
        "content-length": content.length - start,
        "content-range": range,
      });
      response.write(content.subarray(start, start + 10_000), () => {
        if (parts === 1) setTimeout(() => response.destroy(), 100);
      });
      return true;
    };
    await run.create();
    assert.deepEqual(run.requested(KUBELET).slice(-3), [
      `GET ${KUBELET}`,
      ...[10_000, 20_000].map((start) => `GET ${KUBELET} bytes=${start}-`),
    ]);
    assert.match(run.said.join("\n"), /nothing arrived for 0\.3 s/);
  });

  it("begins a file anew when its continued download does not fit, or the server can't continue", async () => {
    const partial = () =>
      path.join(
        run.folder,
        "bundle.part",
        `${createHash("sha256").update(smallProgram("kubelet")).digest("hex")}.partial`,
      );
    run.upstream.intercept = ({ url, method }, response) => {
      if (url !== KUBELET || method !== "GET") return false;
      response.writeHead(404).end();
      return true;
    };
    await run.fails(/404/);
    writeFileSync(partial(), "wrong beginning");
    run.upstream.intercept = () => false;
    await run.create();
    assert.match(run.said.join("\n"), /its continued download has another checksum, so it begins anew/);
  });

  /** Lets an image fail after programs have come. */
  const failLate = () => {
    run.upstream.intercept = ({ url = "" }, response) => {
      if (!/\/etcd\/blobs\//.test(url) || !isLayer(url)) return false;
      response.writeHead(404).end();
      return true;
    };
  };

  it("goes on after a run that failed halfway, without what it has", async () => {
    failLate();
    await run.fails(/registry\.k8s\.io\/etcd:3\.6\.8-0, layer 2 of 2: .* answers with 404/);
    const kubeadm = KUBELET.replace("kubelet", "kubeadm");
    const before = run.requested(kubeadm).filter((each) => !each.includes("sha256")).length;
    run.upstream.intercept = () => false;
    await run.create();
    assert.equal(run.requested(kubeadm).filter((each) => !each.includes("sha256")).length, before);
    assert.match(run.said.join("\n"), /bin\/kubeadm .*was there/);
  });

  it("ends all other downloads when one fails", async () => {
    run.upstream.intercept = ({ url = "", method }, response) => {
      if (method !== "GET" || !/\/kubelet$|\/kubeadm$/.test(url)) return false;
      if (url.endsWith("kubeadm")) setTimeout(() => response.writeHead(404).end(), 50);
      return true;
    };
    await run.fails(/bin\/kubeadm: .* answers with 404/);
    assert.equal(run.requested(KUBELET).filter((each) => !each.includes("sha256")).length, 1);
  });

  it("downloads again what was changed since the last run", async () => {
    failLate();
    await run.fails(/404/);
    const blobs = path.join(run.folder, "bundle.part", "blobs", "sha256");
    for (const blob of readdirSync(blobs)) writeFileSync(path.join(blobs, blob), "changed");
    run.upstream.intercept = () => false;
    assert.equal((await run.verify(await run.create())).code, 0);
  });

  it("leaves a folder alone into which another process downloads", async () => {
    failLate();
    await run.fails(/404/);
    const startTime = readFileSync("/proc/self/stat", "utf8").split(") ")[1]?.split(" ")[19];
    writeFileSync(
      path.join(run.folder, "bundle.part", "lock"),
      JSON.stringify({ pid: process.pid, startTime }),
    );
    await run.fails(/process \d+ downloads into .*bundle\.part; wait until it has ended/);
    writeFileSync(
      path.join(run.folder, "bundle.part", "lock"),
      JSON.stringify({ pid: process.pid, startTime: "0" }),
    );
    run.upstream.intercept = () => false;
    await run.create();
  });
});
