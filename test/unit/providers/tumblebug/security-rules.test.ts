import assert from "node:assert/strict";
import { GENERATION_TABLES } from "../../../../providers/tumblebug/client/generations";
import type { PodNetworkKind } from "../../../../providers/kubeadm/plan/endpoint/network-ports";
import {
  rulesFor,
  rulesNotIn,
  ruleWords,
  securityRules,
  type DesiredSecurity,
} from "../../../../providers/tumblebug/plan/security-rules";
import { read } from "../../docs/project";

const desired: DesiredSecurity = {
  ssh: ["192.0.2.0/24"],
  api: ["198.51.100.0/24"],
  nodePorts: [],
  nodes: ["10.21.3.0/24"],
  pods: "10.244.0.0/16",
  podNetwork: "flannel",
  overInternet: false,
};
const KINDS: PodNetworkKind[] = ["bridge", "cilium", "calico", "flannel", "other"];
const say = (role: "nodes" | "controlPlanes", over: Partial<DesiredSecurity> = {}) =>
  securityRules(role, { ...desired, ...over }).map((rule) => ruleWords(rule).replace(/ \(.*/, ""));

describe("the rules of Tumblebug's security groups", () => {
  it("have ICMP in the form that the cloud accepts", () => {
    const icmp = (provider: string) =>
      rulesFor(provider, securityRules("nodes", desired)).filter(({ protocol }) => protocol === "icmp");
    const ports = (provider: string) =>
      icmp(provider)
        .map(GENERATION_TABLES.mcis.rule)
        .map((rule) => {
          const { FromPort, ToPort } = rule as Record<string, string>;
          return [FromPort, ToPort];
        });
    assert.deepEqual(ports("aws"), [["-1", "-1"]]);
    assert.deepEqual(ports("tencent-site01"), [["ALL", ""]]);
    assert.deepEqual(ports("cloudit"), []);
    const others = rulesFor("cloudit", securityRules("nodes", desired)).length;
    assert.equal(others, securityRules("nodes", desired).length - 1);
  });

  it("of every machine are these with Flannel, and no others", () => {
    assert.deepEqual(say("nodes"), [
      "tcp 22 to 192.0.2.0/24",
      "tcp 10250 to 10.21.3.0/24",
      "icmp to 10.21.3.0/24",
      "udp 8472 to 10.21.3.0/24",
    ]);
  });

  it("of control planes also include the API and etcd", () => {
    assert.deepEqual(say("controlPlanes"), [
      "tcp 6443 to 198.51.100.0/24",
      "tcp 6443 to 10.21.3.0/24",
      "tcp 2379-2380 to 10.21.3.0/24",
    ]);
  });

  it("also admit pods without encapsulation by their own block, and no one else", () => {
    assert.deepEqual(say("nodes", { podNetwork: "bridge" }).slice(3), [
      "tcp 1-65535 to 10.21.3.0/24",
      "udp 1-65535 to 10.21.3.0/24",
      "tcp 1-65535 to 10.244.0.0/16",
      "udp 1-65535 to 10.244.0.0/16",
    ]);
  });

  it("can be expressed in Tumblebug's three protocols for every pod network", () => {
    for (const podNetwork of KINDS)
      for (const { protocol } of securityRules("nodes", { ...desired, podNetwork }))
        assert.ok(["tcp", "udp", "icmp"].includes(protocol), protocol);
  });

  it("open WireGuard for Cilium over the Internet", () => {
    const internet = say("nodes", { podNetwork: "cilium", overInternet: true });
    assert.ok(internet.includes("udp 51871 to 10.21.3.0/24"));
    assert.ok(!say("nodes", { podNetwork: "cilium" }).some((rule) => rule.includes("51871")));
  });

  it("never open anything to everyone unless configured", () => {
    for (const podNetwork of KINDS)
      for (const role of ["nodes", "controlPlanes"] as const)
        for (const { cidr } of securityRules(role, { ...desired, podNetwork }))
          assert.notEqual(cidr, "0.0.0.0/0");
  });

  it("that changed are opened and closed, in whatever order the server keeps them", () => {
    const before = securityRules("nodes", desired);
    const after = securityRules("nodes", { ...desired, ssh: ["203.0.113.7/32"] });
    const opened = rulesNotIn([...before].reverse(), after);
    const closed = rulesNotIn(after, [...before].reverse());
    assert.deepEqual(
      [opened.map(({ cidr }) => cidr), closed.map(({ cidr }) => cidr)],
      [["203.0.113.7/32"], ["192.0.2.0/24"]],
    );
    assert.deepEqual(rulesNotIn([...before].reverse(), before), []);
  });

  it("are all in the table of the page", () => {
    const page = read("docs/tumblebug.md");
    for (const podNetwork of KINDS)
      for (const role of ["nodes", "controlPlanes"] as const)
        for (const { ports, protocol } of securityRules(role, {
          ...{ ...desired, podNetwork, overInternet: true, nodePorts: ["192.0.2.0/24"] },
        })) {
          const range = ports === undefined ? "" : ports[0] === ports[1] ? `${ports[0]}` : ports.join("–");
          assert.match(
            page,
            new RegExp(`\\| *${`${protocol} ${range}`.trim()} *\\|`),
            `${protocol} ${range}`,
          );
        }
  });
});
