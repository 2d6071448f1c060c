import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { ShellMachine } from "./run-shell";

const SUM = "0a".repeat(32);

/** Installs a bundle on a machine that has these programs, and returns what is noted. */
function notedBy(host: ShellMachine, isDownloaded: boolean): string[] {
  for (const name of ["kubeadm", "kubelet", "kubectl"]) host.write(`/run/new/bin/${name}`, `new ${name}`);
  const bundle = host.path("/var/lib/foresail/bundle");
  if (isDownloaded) {
    host.write("/var/lib/foresail/bundle/.sha256", SUM);
    for (const name of ["kubeadm", "kubelet", "kubectl"])
      host.write(`/var/lib/foresail/bundle/bin/${name}`, `new ${name}`);
  }
  const { status, stdout, stderr } = host.run(
    {
      "common/adopted": "all",
      "common/kubernetes-bundle": "all",
      "common/preparation": "all",
      "cluster/prepare": ["install_programs"],
    },
    {
      ...{ VERSION: "1.36.3", REPOSITORY: "", BUNDLE: bundle, BUNDLE_SHA256: SUM },
      BUNDLE_URL: "https://files.example.com/bundle.tar.gz",
    },
    `obtain_bundle() { mkdir -p "$BUNDLE"; cp -r ${host.path("/run/new")}/. "$BUNDLE"; echo "$BUNDLE_SHA256" >"$BUNDLE/.sha256"; }
    verify_bundle() { :; }; write_kubelet_unit() { :; }
    list_program_sums() { sha256sum /usr/local/bin/* 2>/dev/null || true; }
    mkdir -p /usr/local/bin/; install_programs`,
  );
  assert.equal(status, 0, stdout + stderr);
  assert.equal(readFileSync(host.path("/usr/local/bin/kubelet"), "utf8"), "new kubelet");
  return stdout.split("\n").flatMap((line) => /^== did (.*)$/.exec(line)?.[1] ?? []);
}

describe("the programs that a preparation notes", () => {
  it("are those of a downloaded bundle that were not there, or were others", () => {
    const host = new ShellMachine();
    host.write("/usr/local/bin/kubeadm", "new kubeadm");
    host.write("/usr/local/bin/kubelet", "old");
    assert.deepEqual(notedBy(host, false).sort(), [
      `bundle ${SUM}`,
      "program kubectl 1.36.3",
      "program kubelet 1.36.3",
    ]);
  });

  it("are those that differ from a bundle that is there", () => {
    const host = new ShellMachine();
    host.write("/usr/local/bin/kubeadm", "new kubeadm");
    assert.deepEqual(notedBy(host, true), ["program kubelet 1.36.3", "program kubectl 1.36.3"]);
  });
});
