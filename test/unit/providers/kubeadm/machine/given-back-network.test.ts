import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { leaveOut } from "../../../../left-out";
import { shellFile } from "../../../../../providers/kubeadm/machine/shell";
import { bridges, LEFTOVERS } from "../../../../cluster/pod-network-leftovers";

/** What others have on the machine, with names that look alike, and what only the record tells from a pod network's. */
const OTHERS = `ip link set lo up; ${bridges("eth0", "docker0", "calico-lab", "flannel-lab", "cni-podman0", "lxcbr0")}
  ip link add veth00aa11bb type veth peer name other1; ip link set veth00aa11bb master cni-podman0
  ip route add unreachable 192.0.2.0/24; ip route add blackhole 10.244.99.0/24; ip route add blackhole 203.0.113.0/24 proto 80
  ip rule add preference 200 lookup 2004; ip rule add preference 201 fwmark 0xd00/0xf00 lookup 200; ip route add blackhole 192.0.2.64/26 table 200
  iptables -N MY-KUBE-ALLOW; iptables -A INPUT -m comment --comment "for KUBE- nodes" -j MY-KUBE-ALLOW
  iptables -A INPUT -p tcp -m comment --comment "foresail-monitoring" -j ACCEPT
  iptables -A INPUT -p udp -m comment --comment "say \\"hello\\" --comment foresail" -j ACCEPT
  iptables -N CNI-FORWARD; iptables -A FORWARD -m comment --comment "CNI firewall plugin rules" -j CNI-FORWARD; iptables -A CNI-FORWARD -d 10.88.0.2/32 -j ACCEPT`;

/** What a container of others gets while the machine is a node. */
const LATER = `ip link add veth22cc33dd type veth peer name other2; ip link set veth22cc33dd master cni-podman0`;

const LIST = `{ ip -oneline link show | sed -E 's/^[0-9]+: //; s/ (mtu|qdisc).*//; s/@if[0-9]+//' | sort; for family in -4 -6; do ip $family rule show; ip $family route show table all | sed '/ table local /d' | sort; done
  for kind in iptables ip6tables; do $kind-save | sed '/^#/d; s/\\[.*//'; done; }`;

describe("the network of a machine that is given back", function () {
  this.timeout(60_000);
  const folder = mkdtempSync(path.join(tmpdir(), "foresail-given-back-"));
  const inNamespace = (text: string) =>
    spawnSync("unshare", ["--net", "bash", "-c", `set -euo pipefail\n${text}`], { encoding: "utf8" });
  before(function () {
    const { status, stderr } = inNamespace(
      "iptables-nft-save; ip6tables-nft-save; ip link add eth0 type bridge",
    );
    if (status !== 0) leaveOut(this, `no network namespace of its own: ${stderr.slice(0, 200)}`);
  });
  after(() => rmSync(folder, { recursive: true }));
  const functions = (record: string) =>
    // umount and removals of paths are not of this namespace
    [
      `BEFORE_PATH=${record}`,
      shellFile("common/network-names"),
      shellFile("common/pod-networks"),
      "umount() { :; }; rm() { :; }",
    ].join("\n");

  for (const [network, leftovers] of Object.entries(LEFTOVERS))
    it(`is as it was before ${network}, and a second reset changes nothing`, () => {
      const { status, stdout, stderr } = inNamespace(
        `${OTHERS}\n${functions(folder)}
        list_network >${folder}/network; echo 10.244.0.0/16,fd00:244::/48 | tr , '\\n' >${folder}/pods
        ${LATER}; ${LIST}; echo ====\n${leftovers}\nclear_network; ${LIST}; echo ====\nclear_network; ${LIST}`,
      );
      assert.equal(status, 0, stderr);
      // chains that are empty now are those of the kernel
      const [before = "", once = "", twice] = stdout.split("====\n").map((text) =>
        text
          .split("\n")
          .filter((line) => !/^(\*|COMMIT|:[A-Z]+ ACCEPT)/.test(line))
          .join("\n"),
      );
      assert.match(before, /docker0/);
      assert.equal(once, before, stderr);
      assert.equal(twice, before, stderr);
      assert.doesNotMatch(stderr, /a rule is left/);
    });

  it("loses what a pod network left when there is no record, as of an earlier release", () => {
    const { status, stdout, stderr } = inNamespace(
      `${functions("/nowhere")}\nip link set lo up; ${bridges("eth0")}\n${LEFTOVERS.Calico}\n${LEFTOVERS["kube-proxy"]}\nclear_network; ${LIST}`,
    );
    assert.equal(status, 0, stderr);
    assert.doesNotMatch(stdout, /cali|KUBE|kube|proto 80/);
  });
});
