import assert from "node:assert/strict";
import { UNKNOWN } from "../../../../../lib/unknown";
import type { ClusterInitInputs } from "../../../../../providers/kubeadm/resources/declarations";
import { handlers } from "../../../../../providers/kubeadm/resources/cluster/cluster-init-handlers";
import { exampleMachine, exampleSpecification } from "../machine/examples";

const inputs = (names: string[], over: Partial<ClusterInitInputs> = {}): ClusterInitInputs => ({
  __provider: "",
  specification: exampleSpecification(),
  credentials: { privateKey: "key" },
  timeouts: { ssh: 1, prepare: 1, init: 1, join: 1, ready: 1 },
  machines: names.map((name) => exampleMachine(name)),
  adopt: { annotations: "[software].example.com" },
  ...over,
});
const recorded = inputs(["cp-1", "w-1"], { adopted: ["cp-1", "w-1"] });
const check = async (olds: object, news: ClusterInitInputs) => {
  const answer = await handlers.check?.(olds, news);
  const checked = answer?.inputs as ClusterInitInputs;
  return { ...checked, failures: answer?.failures ?? [] };
};

describe("the check of an adopted cluster", () => {
  it("keeps the adopted machines, without one that is added and without one that has left", async () => {
    const { adopted, steps, failures } = await check(recorded, inputs(["cp-1", "w-2"]));
    assert.deepEqual([adopted, steps, failures], [["cp-1"], [], []]);
  });

  it("keeps them and has no step while the host key of a new machine is unknown", async () => {
    const fresh = { ...exampleMachine("w-2"), hostKey: UNKNOWN };
    const { adopted, steps } = await check(recorded, inputs([], { machines: [...recorded.machines, fresh] }));
    assert.deepEqual([adopted, steps], [["cp-1", "w-1"], []]);
  });

  it("names no machine before the first up while a host key is unknown", async () => {
    const { adopted, steps } = await check(
      {},
      inputs([], { machines: [{ ...exampleMachine("cp-1"), hostKey: UNKNOWN }] }),
    );
    assert.deepEqual([adopted, steps], [undefined, ["unknown until the machines exist"]]);
  });

  it("lists the adoptions of the configuration when no machine answers", async () => {
    const silent = { ...exampleMachine("cp-1"), address: "127.0.0.1", port: 1 };
    const { steps, failures } = await check({}, inputs([], { machines: [silent] }));
    assert.deepEqual([steps, failures], [["cp-1: adopt as control plane of the cluster"], []]);
  }).timeout(60_000);

  it("refuses to turn an adopted cluster into one that a destroy resets", async () => {
    const { adopt: _, ...without } = inputs(["cp-1", "w-1"]);
    const { failures } = await check(recorded, without);
    assert.deepEqual(
      failures.map(({ property }) => property),
      ["cluster.adopt"],
    );
  });
});
