import assert from "node:assert/strict";
import type { Handlers } from "../../../../lib/pulumi/handler-types";
import { handlers } from "../../../../providers/handlers";
import { UNKNOWN } from "../../../../lib/unknown";
import { clusterInitSteps } from "../../../../providers/kubeadm/plan/steps";

const machine = (name: string, hostKey = "ssh-ed25519 AAAA") => ({
  name,
  role: name.startsWith("cp") ? "control-plane" : "worker",
  group: name.startsWith("cp") ? "control-plane" : "workers",
  internalAddress: `192.0.2.${name.length}${name.at(-1)}`,
  hostKey,
  labels: {},
  taints: [],
});
const specification = { name: "demo", endpoint: { loopback: { port: 8443 } } };

/** Runs check and diff as a preview does. */
async function preview(key: keyof typeof handlers, olds: object, news: object) {
  const { check, diff } = handlers[key] as Required<Pick<Handlers, "check" | "diff">>;
  const { inputs } = (await check(olds, news)) as { inputs: { steps: string[] } };
  return { steps: inputs.steps, ...(await diff("demo", olds, inputs)) };
}

describe("a preview of machines whose host key is read at first contact", () => {
  const kept = [machine("cp-1"), machine("w-1")];

  it("rewrites no endpoint for a new worker", async () => {
    const news = { specification, machines: [...kept, machine("w-2", UNKNOWN)] };
    const { steps, changes } = await preview(
      "kubeadm/LoopbackEndpoint",
      { specification, machines: kept },
      news,
    );
    assert.deepEqual([steps, changes], [[], false]);
  });

  it("rewrites every endpoint for a new control plane, and says on which machines", async () => {
    const news = { specification, machines: [...kept, machine("cp-2", UNKNOWN)] };
    const { steps, changes } = await preview(
      "kubeadm/LoopbackEndpoint",
      { specification, machines: kept },
      news,
    );
    assert.deepEqual(
      [steps, changes],
      [["cp-1", "w-1", "cp-2"].map((name) => `${name}: put cp-1, cp-2 behind 127.0.0.1`), true],
    );
  });

  it("does not fail when the list itself is unknown", async () => {
    const olds = { specification, machines: kept };
    const { changes } = await preview("kubeadm/LoopbackEndpoint", olds, { specification, machines: UNKNOWN });
    assert.equal(changes, true);
  });

  it("names the machine that init runs on", async () => {
    const news = { specification, machines: [machine("cp-1", UNKNOWN)] };
    const { check } = handlers["kubeadm/ClusterInit"] as Required<Pick<Handlers, "check">>;
    const { inputs } = (await check({}, news)) as { inputs: { steps: string[] } };
    assert.deepEqual(clusterInitSteps.parse(inputs.steps[0] ?? ""), { kind: "init", machine: "cp-1" });
  });

  it("names the machines of a group", async () => {
    const news = {
      specification,
      group: "workers",
      machines: [machine("w-1", UNKNOWN)],
      kubeconfig: UNKNOWN,
    };
    const { check } = handlers["kubeadm/NodeGroup"] as Required<Pick<Handlers, "check">>;
    const { inputs } = (await check({}, news)) as { inputs: { steps: string[] } };
    assert.deepEqual(inputs.steps, ["unknown until the cluster exists; wanted: w-1"]);
  });
});
