import assert from "node:assert/strict";
import { parseMachineFacts } from "../../../../../providers/kubeadm/machine/facts/facts-script";
import { NODE_PATHS } from "../../../../../providers/kubeadm/plan/cluster/node-paths";
import { ShellMachine } from "./run-shell";

describe("a machine that is asked whether it has begun to join as a control plane", function () {
  this.timeout(20_000);
  const ETCD = "/etc/kubernetes/manifests/etcd.yaml";
  const MEMBER = [NODE_PATHS.member, "/etc/kubernetes/kubelet.conf"];

  const cases: [files: string, written: readonly string[], begun: true | undefined][] = [
    ["etcd's manifest, and is not a member", [ETCD], true],
    ["etcd's manifest, and is a member", [ETCD, ...MEMBER], undefined],
    ["none of kubeadm's files", [], undefined],
    ["the files of a worker that has begun to join", ["/etc/kubernetes/kubelet.conf"], undefined],
  ];
  for (const [files, written, begun] of cases)
    it(`says ${begun ? "so" : "nothing"} with ${files}`, () => {
      const machine = new ShellMachine();
      for (const file of ["/etc/machine-id", ...written]) machine.write(file, "");
      const { stdout, stderr } = machine.step("facts/machine-facts", {}, ["common/member"]);
      assert.equal(parseMachineFacts(stdout).begunControlPlane, begun, stderr);
    });
});
