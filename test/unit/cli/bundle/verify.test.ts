import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { bundleCreate } from "../../../../cli/commands/bundle-create";
import { bundleVerify, type BundleVerifyOptions } from "../../../../cli/commands/bundle-verify";
import { RUNTIME_VERSIONS } from "../../../../providers/kubeadm/plan/bundle/software";
import { smallProgram, startSmallUpstream, VERSION } from "./small-upstream";

describe("foresail bundle verify", () => {
  let folder: string;
  let bundle: string;

  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "verify-"));
    const upstream = await startSmallUpstream();
    const given = { kubernetes: VERSION, arch: "amd64", ...RUNTIME_VERSIONS, dryRun: false } as const;
    const from = { fromPrograms: upstream.url, registry: [upstream.url], output: path.join(folder, "made") };
    await bundleCreate({ ...given, ...from }, { say: () => undefined });
    await upstream.close();
  });
  beforeEach(() => {
    bundle = path.join(folder, "bundle");
    cpSync(path.join(folder, "made"), bundle, { recursive: true });
  });
  afterEach(() => rmSync(bundle, { recursive: true, force: true }));
  after(() => rmSync(folder, { recursive: true }));

  const at = (name: string) => path.join(bundle, name);
  async function verify(options: Partial<BundleVerifyOptions> = {}) {
    const lines: string[] = [];
    const code = await bundleVerify({ bundle, ...options }, (line) =>
      lines.push(line.replace(`${bundle}: `, "")),
    );
    return { code, lines };
  }
  /** Writes SHA256SUMS as the page for bundles of one's own says. */
  const sumAgain = () => {
    const names = readdirSync(bundle, { recursive: true, encoding: "utf8", withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== "SHA256SUMS")
      .map((entry) => path.relative(bundle, path.join(entry.parentPath, entry.name)));
    const sum = (name: string) =>
      createHash("sha256")
        .update(readFileSync(at(name)))
        .digest("hex");
    writeFileSync(at("SHA256SUMS"), names.map((name) => `${sum(name)}  ${name}\n`).join(""));
  };

  const faults: [
    what: string,
    change: () => void,
    lines: RegExp[],
    options?: Partial<BundleVerifyOptions>,
  ][] = [
    ["a file that is gone", () => rmSync(at("runtime/runc.amd64")), [/^"runtime\/runc\.amd64" is missing$/]],
    [
      "a program that was changed",
      () => writeFileSync(at("bin/kubelet"), Buffer.concat([smallProgram("kubelet"), Buffer.from("x")])),
      [/^"bin\/kubelet" was changed: it does not match SHA256SUMS$/],
    ],
    [
      "a program of another processor",
      () => {
        writeFileSync(at("bin/kubelet"), smallProgram("kubelet", 0xb7));
        sumAgain();
      },
      [/^"bin\/kubelet" is for arm64, not for amd64$/],
    ],
    [
      "a script instead of a program",
      () => {
        writeFileSync(at("bin/kubelet"), "#!/bin/sh\n");
        sumAgain();
      },
      [/^"bin\/kubelet" is not a program for Linux$/],
    ],
    [
      "a file that was added",
      () => writeFileSync(at("images/more\u001b.tar"), "x"),
      [/^"images\/more\\u001b\.tar" is not in SHA256SUMS$/],
    ],
    ["no checksums", () => rmSync(at("SHA256SUMS")), [/^SHA256SUMS is missing, so nothing shows/]],
    [
      "a line that is no checksum",
      () => writeFileSync(at("SHA256SUMS"), `${readFileSync(at("SHA256SUMS"), "utf8")}nonsense\n`),
      [/^SHA256SUMS has a line that is no checksum with a path: "nonsense"$/],
    ],
    [
      "another version",
      () => undefined,
      [
        /^it is the bundle of Kubernetes "1\.36\.3", not of 1\.37\.2$/,
        ...Array<RegExp>(6).fill(/^the image .* kubeadm 1\.37\.2 needs, is missing$/),
      ],
      { kubernetes: "1.37.2" },
    ],
    [
      "another processor",
      () => undefined,
      [
        ...Array<RegExp>(3).fill(/is for amd64, not for arm64$/),
        /^it is the bundle for "amd64", not for arm64$/,
      ],
      { arch: "arm64" },
    ],
    [
      "an image that is in no archive",
      () => {
        const list = readFileSync(at("bundle.json"), "utf8");
        writeFileSync(
          at("bundle.json"),
          list.replace('"name": "registry.k8s.io/pause:', '"name": "registry.k8s.io/other:'),
        );
        sumAgain();
      },
      [/^the image "registry\.k8s\.io\/other:3\.10\.2" of bundle\.json is in no archive of images\/$/],
    ],
  ];
  for (const [what, change, expected, options] of faults)
    it(`finds ${what}`, async () => {
      change();
      const { code, lines } = await verify(options);
      assert.equal(code, 1);
      assert.equal(lines.length, expected.length + 1, lines.join("\n"));
      for (const [index, words] of expected.entries()) assert.match(lines[index] ?? "", words);
    });

  it("reads a bundle that was made by hand, with images of docker save, as a folder and as an archive", async () => {
    for (const name of ["bundle.json", "sbom.cdx.json", "images/images.tar"]) rmSync(at(name));
    const tags = ["kube-apiserver:v1.36.3", "kube-controller-manager:v1.36.3", "kube-scheduler:v1.36.3"];
    const images = [...tags, "kube-proxy:v1.36.3", "coredns:v1.14.2", "pause:3.10.2"].map((tag) => ({
      RepoTags: [`own.example/k8s/${tag}`],
    }));
    writeFileSync(path.join(folder, "manifest.json"), JSON.stringify(images));
    execFileSync("tar", ["-cf", at("images/own.tar"), "-C", folder, "./manifest.json"]);
    sumAgain();
    const { code, lines } = await verify({ kubernetes: VERSION });
    assert.deepEqual([code, lines[0]], [1, "the image etcd:3.6.8-0, which kubeadm 1.36.3 needs, is missing"]);
    assert.equal((await verify()).code, 0);
    const archive = path.join(folder, "by-hand.tar.gz");
    execFileSync("tar", ["-czf", archive, "-C", bundle, "."]);
    assert.equal((await verify({ bundle: archive })).code, 0);
  });

  it("says what is wrong with a path that has no bundle", async () => {
    await assert.rejects(
      verify({ bundle: at("none") }),
      /can't read the bundle .*none: there is no such file or folder/,
    );
    writeFileSync(at("text.tar.gz"), "no archive");
    await assert.rejects(verify({ bundle: at("text.tar.gz") }), /can't read the bundle/);
    const whole = path.join(folder, "whole.tar.gz");
    execFileSync("tar", ["-czf", whole, "-C", bundle, "."]);
    writeFileSync(at("half.tar.gz"), readFileSync(whole).subarray(0, 1_000));
    await assert.rejects(verify({ bundle: at("half.tar.gz") }), /can't read the bundle/);
  });
});
