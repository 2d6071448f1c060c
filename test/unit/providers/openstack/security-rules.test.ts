import assert from "node:assert/strict";
import type { PodNetworkKind } from "../../../../providers/kubeadm/plan/endpoint/network-ports";
import { securityRules, type SecurityRule } from "../../../../providers/openstack/plan/security-rules";
import { read } from "../../docs/project";

const desired = {
  ssh: ["192.0.2.0/24"],
  api: ["198.51.100.0/24"],
  nodePorts: [],
  podNetwork: "flannel",
} as const;
const say = ({ name, group, cidr, peers, protocol, ports }: SecurityRule) =>
  `${name}: ${cidr ?? peers} → ${group} ${protocol ?? "any"} ${ports?.join("-") ?? ""}`.trim();

describe("the rules of the security groups", () => {
  it("are these for a cluster with Flannel, and no others", () => {
    assert.deepEqual(securityRules(desired).map(say), [
      "ssh: 192.0.2.0/24 → nodes tcp 22-22",
      "api: 198.51.100.0/24 → control-planes tcp 6443-6443",
      "api-nodes: nodes → control-planes tcp 6443-6443",
      "etcd: control-planes → control-planes tcp 2379-2380",
      "kubelet: nodes → nodes tcp 10250-10250",
      "icmp: nodes → nodes icmp",
      "flannel: nodes → nodes udp 8472-8472",
    ]);
  });

  it("open nothing from outside without a listed block", () => {
    const closed = securityRules({ ...desired, ssh: [], api: [] });
    assert.ok(closed.length > 0);
    assert.ok(closed.every(({ cidr, peers }) => cidr === undefined && peers !== undefined));
  });

  it("open every protocol only for the nodes, and only for networks that send it", () => {
    const kinds: PodNetworkKind[] = ["bridge", "cilium", "calico", "flannel", "other"];
    for (const podNetwork of kinds) {
      const any = securityRules({ ...desired, podNetwork }).filter(({ protocol }) => protocol === undefined);
      assert.deepEqual(
        any.map(say),
        ["bridge", "other"].includes(podNetwork) ? ["pods: nodes → nodes any"] : [],
      );
    }
  });

  it("open SSH where it listens, the load balancer's block and node ports when they are configured", () => {
    const rules = securityRules({
      ...desired,
      sshPort: 222,
      nodePorts: ["192.0.2.0/24"],
      loadBalancerCidr: "10.20.0.0/24",
    });
    const lines = rules.map(say);
    for (const line of [
      "ssh: 192.0.2.0/24 → nodes tcp 222-222",
      "api-load-balancer: 10.20.0.0/24 → control-planes tcp 6443-6443",
      "node-ports-tcp: 192.0.2.0/24 → nodes tcp 30000-32767",
      "node-ports-udp: 192.0.2.0/24 → nodes udp 30000-32767",
    ])
      assert.ok(lines.includes(line), lines.join("\n"));
  });

  it("open node ports to load balancers of Services, and no rule twice", () => {
    const balanced = { ...desired, serviceLoadBalancerCidr: "10.20.0.0/24" };
    const opened = (nodePorts: string[]) =>
      securityRules({ ...balanced, nodePorts })
        .map(say)
        .filter((line) => line.endsWith("tcp 30000-32767"));
    const balancers = "service-load-balancers-tcp: 10.20.0.0/24 → nodes tcp 30000-32767";
    assert.deepEqual(opened([]), [balancers]);
    assert.deepEqual(opened(["192.0.2.0/24"]), [
      "node-ports-tcp: 192.0.2.0/24 → nodes tcp 30000-32767",
      balancers,
    ]);
    assert.deepEqual(opened(["10.20.0.0/24"]), ["node-ports-tcp: 10.20.0.0/24 → nodes tcp 30000-32767"]);
  });

  it("are all in the table of the page", () => {
    const page = read("docs/openstack.md");
    const [table = ""] = page.split("## What is open")[1]?.split("\n## ") ?? [];
    for (const podNetwork of ["cilium", "calico", "flannel"] as const)
      for (const { ports } of securityRules({ ...desired, podNetwork, nodePorts: ["192.0.2.0/24"] })) {
        const [first, last] = ports ?? [];
        if (first !== undefined)
          assert.ok(table.includes(first === last ? String(first) : `${first}-${last}`), String(first));
      }
  });
});
