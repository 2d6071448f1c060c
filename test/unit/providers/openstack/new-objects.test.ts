import assert from "node:assert/strict";
import { newObjects, withoutLeftovers } from "../../../../providers/openstack/plan/new-objects";
import type { ObjectKind } from "../../../../providers/openstack/plan/leftovers";
import { securityRules } from "../../../../providers/openstack/plan/security-rules";

describe("the objects that a run creates in a cloud, beside servers", () => {
  const rules = securityRules({
    ssh: ["192.0.2.0/24"],
    api: ["192.0.2.0/24"],
    nodePorts: [],
    podNetwork: "bridge",
  });
  const desired = {
    machines: ["cp-1-aaaaa", "w-1-aaaaa"],
    networks: ["10.20.0.0/24", "10.20.0.0/24"],
    groups: ["nodes", "control-planes"] as const,
    rules,
    pools: [
      { name: "cp", antiAffinity: "soft" },
      { name: "w", antiAffinity: "none" },
    ],
    newBalancer: false,
  };
  const none = { networkObjects: [], serverGroups: new Set<string>() };
  const object = (kind: "port" | "network" | "subnet" | "router" | "security group", name: string) => {
    return { kind, name, id: name };
  };

  it("are all of a new cluster: a port for each machine and for the router, two rules with each group", () => {
    assert.deepEqual(newObjects("demo", { ...desired, newBalancer: true }, none), {
      ...{ port: 4, network: 1, subnet: 1, router: 1, security_group: 2, server_groups: 1 },
      security_group_rule: rules.length + 4,
    });
  });

  it("are none of an existing network but the ports", () => {
    const { port, network, subnet, router } = newObjects("demo", { ...desired, networks: ["id:n1"] }, none);
    assert.deepEqual([port, network, subnet, router], [2, 0, 0, 0]);
  });

  it("have the room of leftovers, which the run deletes before", () => {
    const quota = (used: number) => ({ limit: 10, used });
    const quotas = { port: quota(6), network: quota(1), security_group: quota(2), subnet: undefined };
    const leftover = (kind: ObjectKind) => ({ kind, id: kind, name: kind });
    const leftovers = (
      ["port", "port", "router interface", "security group", "subnet", "keypair"] as const
    ).map(leftover);
    assert.deepEqual(withoutLeftovers(quotas, leftovers), {
      port: quota(3),
      network: quota(1),
      security_group: quota(1),
    });
  });

  it("are only those that the state does not have", () => {
    const recorded = {
      networkObjects: [
        ...[object("port", "demo-cp-1-aaaaa"), object("port", "demo-10.20.0.0-24")],
        ...[object("network", "demo-10.20.0.0-24"), object("subnet", "demo-10.20.0.0-24")],
        ...[object("router", "demo"), object("security group", "demo-nodes")],
      ],
      serverGroups: new Set(["demo-cp-soft"]),
    };
    assert.deepEqual(newObjects("demo", desired, recorded), {
      ...{ port: 1, network: 0, subnet: 0, router: 0, security_group: 1, server_groups: 0 },
      security_group_rule: rules.length + 2,
    });
  });
});
