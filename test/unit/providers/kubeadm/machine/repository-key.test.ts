import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { renderShell, shellFile } from "../../../../../providers/kubeadm/machine/shell";
import { sourceParameters } from "../../../../../providers/kubeadm/machine/parameters";
import { signRepository } from "../../../../sites/kubernetes-repository";
import { SigningKey } from "../../../../sites/signing-key";
import { leaveOut } from "../../../../left-out";
import { exampleSpecification } from "./examples";

const packages = (version: string) =>
  ["kubeadm", "kubelet", "kubectl"]
    .map((name) => `Package: ${name}\nVersion: ${version}-1.1\nArchitecture: all\nFilename: ${name}.deb\n`)
    .join("\n");

describe("the key of a Kubernetes repository", function () {
  this.timeout(60_000);
  let folder: string;
  let pinned: SigningKey;
  let other: SigningKey;

  before(async function () {
    if (spawnSync("sh", ["-c", "command -v apt-get && command -v gpg"]).status !== 0)
      leaveOut(this, "needs apt-get and gpg");
    folder = mkdtempSync(path.join(tmpdir(), "foresail-repository-"));
    chmodSync(folder, 0o755);
    mkdirSync(path.join(folder, "deb"));
    writeFileSync(path.join(folder, "deb/Packages"), packages("1.36.3"));
    // apt reads the folder; only the key is downloaded over https
    writeFileSync(
      path.join(folder, "curl"),
      '#!/bin/sh\nfor last; do :; done\ncp "${0%/*}/deb/Release.key" "$last"\n',
    );
    chmodSync(path.join(folder, "curl"), 0o755);
    [pinned, other] = await Promise.all([SigningKey.generate(), SigningKey.generate()]);
  });

  after(async () => {
    await Promise.all([pinned?.remove(), other?.remove()]);
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  /** Checks the repository as the installer of a version does. */
  function check(keyFingerprint: string) {
    const repository = `file:${folder}/deb/`;
    const specification = exampleSpecification({ source: { packages: { repository, keyFingerprint } } });
    const text = ["common/system", "common/software", "common/kubernetes-packages"].map(shellFile).join("\n");
    const script = renderShell(
      `set -euo pipefail\n${text}\ncheck_kubernetes`,
      sourceParameters(specification, "1.36.3"),
    );
    const env = { ...process.env, PATH: `${folder}:${process.env.PATH}`, TMPDIR: folder, LC_ALL: "C" };
    const { status, stdout } = spawnSync("bash", ["-c", script], { encoding: "utf8", env });
    return { status, stdout };
  }

  const publish = async (signer: SigningKey, ...keys: SigningKey[]) => {
    await signRepository(path.join(folder, "deb"), signer);
    writeFileSync(path.join(folder, "deb/Release.key"), keys.map(({ publicKey }) => publicKey).join(""));
  };

  it("is accepted when it is the pinned one, in upper or lower case", async () => {
    await publish(pinned, pinned);
    for (const fingerprint of [pinned.fingerprint, pinned.fingerprint.toLowerCase()])
      assert.deepEqual(check(fingerprint).status, 0, check(fingerprint).stdout);
  });

  const hostile: [what: string, publish: () => Promise<void>][] = [
    ["another key, which its Release.key offers", () => publish(other, other)],
    ["another key, which its Release.key offers beside the pinned one", () => publish(other, pinned, other)],
    ["another key, while its Release.key offers the pinned one", () => publish(other, pinned)],
  ];
  for (const [what, make] of hostile)
    it(`is refused when the repository is signed by ${what}`, async () => {
      await make();
      const { status, stdout } = check(pinned.fingerprint);
      assert.equal(status, 65, stdout);
      assert.match(stdout, new RegExp(`is not signed by the key ${pinned.fingerprint}`));
      assert.deepEqual(
        readdirSync(folder).filter((name) => name.startsWith("tmp.")),
        [],
      );
    });

  it("is refused by the script itself without a fingerprint", async () => {
    await publish(pinned, pinned);
    for (const fingerprint of ["", "DE15", `${pinned.fingerprint} ] http://evil.example.com /`]) {
      const { status, stdout } = check(fingerprint);
      assert.equal(status, 64, stdout);
      assert.match(stdout, /cluster\.source\.packages\.keyFingerprint/);
    }
  });
});
