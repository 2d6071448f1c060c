import assert from "node:assert/strict";
import { parseMachineFacts } from "../../../../../providers/kubeadm/machine/facts/facts-script";
import { begunDifferences } from "../../../../../providers/kubeadm/plan/facts/begun-cluster";
import type { ReadFacts } from "../../../../../providers/kubeadm/plan/facts/machine-facts";
import type { ClusterSpecification } from "../../../../../providers/kubeadm/plan/cluster/specification";

const answer = (lines: readonly string[]) =>
  parseMachineFacts(`marker \nidentity \nfixed ${Buffer.from(lines.join("\n")).toString("base64")}\n`);

describe("a cluster that an interrupted run made", () => {
  const specification = {
    network: { podCidr: "10.244.0.0/16", serviceCidr: "10.96.0.0/12", dnsDomain: "cluster.local" },
    endpoint: { loopback: { port: 7443 } },
  } as unknown as ClusterSpecification;
  const SAME = [
    "podSubnet 10.244.0.0/16",
    "serviceSubnet 10.96.0.0/12",
    'dnsDomain "cluster.local"',
    "endpoint 127.0.0.1:7443",
  ];
  const of = (facts: ReadFacts | undefined) =>
    begunDifferences({ name: "cp-1" }, facts, specification).map(({ property }) => property);

  it("is gone on with when it is as configured, and when its machine says nothing", () => {
    assert.deepEqual(of(answer(SAME)), []);
    assert.deepEqual(of(answer([])), []);
    assert.deepEqual(of({ unread: "no answer" }), []);
    assert.deepEqual(of(undefined), []);
  });

  for (const [at, line, property] of [
    [0, "podSubnet 10.99.0.0/16", "cluster.network.podSubnet"],
    [1, "serviceSubnet 10.50.0.0/16", "cluster.network.serviceSubnet"],
    [2, "dnsDomain example.org", "cluster.network.dnsDomain"],
    [3, "endpoint api.example.org:6443", "cluster.endpoint"],
  ] as const)
    it(`is refused by name with another ${property}`, () => {
      const facts = answer(SAME.map((same, index) => (index === at ? line : same)));
      assert.deepEqual(of(facts), [property]);
      const [issue] = begunDifferences({ name: "cp-1" }, facts, specification);
      assert.match(issue?.reason ?? "", /already made the cluster on cp-1 with ".*pulumi destroy/);
      assert.ok(issue?.reason.includes(line.split(" ")[1] ?? ""));
    });

  it("shows no control characters that a machine sends", () => {
    const [issue] = begunDifferences({ name: "cp-1" }, answer(["podSubnet \u001b[31mx"]), specification);
    assert.equal(issue?.reason.includes("\u001b"), false);
  });
});
