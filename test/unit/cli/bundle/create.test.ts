import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { BundleCreateOptions } from "../../../../cli/commands/bundle-create";
import { KUBERNETES_PROGRAMS, kubernetesImages } from "../../../../providers/kubeadm/plan/bundle/software";
import { BundleRun, KUBELET } from "./bundle-run";
import { smallProgram, VERSION } from "./small-upstream";

describe("foresail bundle create", () => {
  let run: BundleRun;

  beforeEach(async () => {
    run = await BundleRun.start();
  });
  afterEach(() => run.end());

  it("makes what source.bundle takes, with a list and an SBOM", async () => {
    const place = await run.create();
    assert.deepEqual(readdirSync(place).sort(), [
      ...["SHA256SUMS", "bin", "bundle.json", "images", "runtime", "sbom.cdx.json"],
    ]);
    assert.deepEqual(readdirSync(path.join(place, "runtime")).sort(), [
      ...["cni-plugins-linux-amd64-v1.10.0.tgz", "containerd-2.4.2-linux-amd64.tar.gz", "runc.amd64"],
    ]);
    for (const name of KUBERNETES_PROGRAMS)
      assert.equal(statSync(path.join(place, "bin", name)).mode & 0o777, 0o755);
    const sums = readFileSync(path.join(place, "SHA256SUMS"), "utf8");
    const kubelet = createHash("sha256").update(smallProgram("kubelet")).digest("hex");
    assert.ok(sums.includes(`${kubelet}  bin/kubelet\n`), sums);
    const sbom = JSON.parse(readFileSync(path.join(place, "sbom.cdx.json"), "utf8")) as {
      bomFormat: string;
      components: { purl: string }[];
    };
    assert.equal(sbom.bomFormat, "CycloneDX");
    const purls = sbom.components.map(({ purl }) => purl);
    assert.ok(purls.includes(`pkg:github/kubernetes/kubernetes@v${VERSION}`));
    assert.ok(
      purls.some(
        (purl) =>
          purl.startsWith("pkg:oci/coredns@sha256%3A") &&
          purl.includes("registry.k8s.io%2Fcoredns%2Fcoredns"),
      ),
    );
    assert.equal(existsSync(`${place}.part`), false);
    assert.deepEqual(await run.verify(place), {
      code: 0,
      text: `${place}: Kubernetes ${VERSION} for amd64, 10 files and 7 images, all as they were made`,
    });
  });

  it("makes the same bytes each time, in a folder and in an archive", async () => {
    const archives = ["one.tar.gz", "other.tar.gz"].map((name) => path.join(run.folder, name));
    for (const output of archives) await run.create({ output });
    const [one, other] = archives.map((file) => readFileSync(file));
    assert.deepEqual(one, other);
    assert.equal((await run.verify(archives[0] ?? "")).code, 0);
    const sum = createHash("sha256")
      .update(one ?? "")
      .digest("hex");
    assert.ok(
      run.said.some((line) => line.includes(`sha256: ${sum}`)),
      run.said.join("\n"),
    );
  });

  it("adds further images, and names those of Kubernetes after the stack's imageRepository", async () => {
    const images = path.join(run.folder, "images.txt");
    writeFileSync(images, "# our own\nexample.com/team/app:1 # the shop\n\n");
    const place = await run.create({ images, imageRepository: "registry.site.example/k8s" });
    const list = JSON.parse(readFileSync(path.join(place, "bundle.json"), "utf8")) as {
      images: { name: string }[];
    };
    const names = list.images.map(({ name }) => name);
    assert.ok(names.includes("registry.site.example/k8s/coredns:v1.14.2"), names.join());
    assert.equal(names.at(-1), "example.com/team/app:1");
    assert.equal((await run.verify(place)).code, 0);
  });

  it("lists what it would download with sizes, and writes nothing", async () => {
    await run.create({ dryRun: true });
    assert.deepEqual(readdirSync(run.folder), []);
    assert.match(run.said.join("\n"), /bin\/kubelet +0\.1 MiB +http:.*\/bin\/linux\/amd64\/kubelet\n/);
    assert.match(run.said.join("\n"), /registry\.k8s\.io\/pause:3\.10\.2 +0\.0 MiB/);
    assert.deepEqual(run.requested(`${KUBELET}`), [`GET ${KUBELET}.sha256`]);
  });

  it("refuses to write over what is there", async () => {
    const place = await run.create();
    await assert.rejects(run.create(), /bundle is there already; check it with/);
    assert.equal((await run.verify(place)).code, 0);
  });

  it("names the image that has none for the processor", async () => {
    await run.upstream.publishImage(
      { repository: "pause", tag: "3.10.2", config: Buffer.from("{}"), layers: [] },
      "arm64",
    );
    await run.fails(/registry\.k8s\.io\/pause:3\.10\.2 has no image for linux\/amd64/);
  });

  it("asks the kubeadm of a version that it does not know, where it runs", async () => {
    const images = ["registry.k8s.io/kube-apiserver:v1.36.3", "registry.k8s.io/pause:3.10.2"];
    const script = Buffer.from(`#!/bin/sh\n[ "$5" = v1.36.99 ] && printf '%s\\n' ${images.join(" ")}\n`);
    const [here, other] =
      process.arch === "x64" ? (["amd64", "arm64"] as const) : (["arm64", "amd64"] as const);
    run.upstream.publishPrograms("1.36.99", other, { kubeadm: script });
    await run.fails(
      /does not know the images of Kubernetes 1\.36\.99; its kubeadm does: run the command on linux/,
      {
        ...{ kubernetes: "1.36.99", arch: other, dryRun: true },
      },
    );
    run.upstream.publishPrograms("1.36.99", here, { kubeadm: script });
    await run.create({ kubernetes: "1.36.99", arch: here, dryRun: true });
    for (const image of images) assert.ok(run.said.join("\n").includes(`${image} `), run.said.join("\n"));
  });

  const wrong: [words: RegExp, changes: Partial<BundleCreateOptions>][] = [
    [/--kubernetes: "v1\.36\.3" must be written without the "v"/, { kubernetes: "v1.36.3" }],
    [/--containerd: is not a version/, { containerd: "../2" }],
    [/--from-programs: is plain http to another host/, { fromPrograms: "http://mirror.example" }],
    [/--registry: .* is not a URL/, { registry: ["registry.k8s.io=mirror"] }],
    [/--image-repository: .* is a URL/, { imageRepository: "https://registry.example" }],
  ];
  for (const [words, changes] of wrong)
    it(`refuses ${JSON.stringify(changes)}, and asks no server`, async () => {
      await run.fails(words, changes);
      assert.deepEqual(run.upstream.requests, []);
    });

  it("names the lines of images that can't be read, all at once", async () => {
    const images = path.join(run.folder, "images.txt");
    writeFileSync(images, "example.com/app\nexample.com/App:1\u001b[2J\nexample.com/app@sha256:12\n");
    await run.fails(
      /images\.txt:1: .*neither a tag nor a digest[\s\S]*:2: .*not the name of an image[\s\S]*:3: .*digest/,
      { images },
    );
  });

  it("knows the images of a version by its own table", () => {
    assert.equal(kubernetesImages(VERSION)?.length, 7);
    assert.equal(kubernetesImages("1.36.99"), undefined);
  });
});
