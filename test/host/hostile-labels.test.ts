import assert from "node:assert/strict";
import { exampleMachine } from "../unit/providers/kubeadm/machine/examples";
import { common, controlPlanes } from "./handler-samples";
import { type ProviderHost } from "./provider-host";
import { ServedHost } from "./served-host";

describe("Nodes whose labels name another group", function () {
  this.timeout(60_000);
  const served = new ServedHost();
  const { server } = served;
  const workers = ["w-1", "w-2", "w-3", "w-4"].map((name) => exampleMachine(name));
  const key = "kubeadm/NodeGroup";
  let host: ProviderHost;

  before(() => {
    host = served.host;
  });

  const group = (name: string, machines: typeof workers, over: object = {}) => ({
    ...{ ...common, group: name, machines, controlPlanes, lost: [] },
    elsewhere: [...controlPlanes, ...workers]
      .map((each) => each.name)
      .filter((each) => !machines.some((machine) => machine.name === each)),
    drain: { timeoutSeconds: 1, deleteEmptyDirData: false, force: false },
    kubeconfig: served.kubeconfig,
    owned: {},
    ...over,
  });

  /** Writes the Nodes: name → label, the role's label of control planes as kubeadm sets it. */
  function putNodes(labels: Record<string, string>): void {
    server.store.objects.clear();
    for (const [name, label] of Object.entries(labels))
      server.store.put(`/api/v1/nodes/${name}`, {
        apiVersion: "v1",
        kind: "Node",
        metadata: {
          ...{ name, uid: `uid-${name}` },
          labels: {
            "foresail/group": label,
            ...(name.startsWith("cp-") ? { "node-role.kubernetes.io/control-plane": "" } : {}),
          },
        },
        status: {
          conditions: [{ type: "Ready", status: "True" }],
          addresses: [{ type: "InternalIP", address: "10.9.9.9" }],
        },
      });
  }

  it("count as no control planes, so that a majority of the real ones can't be removed", async () => {
    const planes = Object.fromEntries(controlPlanes.map(({ name }) => [name, "control-plane"]));
    const hostile = Object.fromEntries(workers.map(({ name }) => [name, "control-plane"]));
    putNodes({ ...planes, ...hostile });
    const olds = group("control-plane", controlPlanes);
    const { refusals } = await host.check(key, olds, group("control-plane", controlPlanes.slice(2)));
    assert.match(refusals[0]!.reason, /a majority of the 3 control planes; take out at most 1 in one run/);
  });

  it("are named and left alone when they are not machines of the stack", async () => {
    putNodes({ "w-1": "workers", "x-1": "workers" });
    const olds = group("workers", workers.slice(0, 1));
    const { inputs } = await host.check(key, olds, olds);
    assert.equal((inputs.steps as string[]).join().includes("x-1"), false);
    assert.match(
      host.printed,
      /x-1 has the label foresail\/group=workers, but is not a machine of this stack/,
    );
    assert.equal(inputs.former, undefined);
  });

  it("leave as the state says, also in the run after one that failed", async () => {
    const olds = group("workers", workers.slice(0, 2));
    const news = group("workers", workers.slice(0, 1), { elsewhere: [] });
    putNodes({ "w-1": "workers", "w-2": "gpu" });
    const removal = "w-2: cordon, drain, kubeadm reset, delete its Node";
    const { inputs } = await host.check(key, olds, news);
    assert.ok((inputs.steps as string[]).includes(removal));
    assert.deepEqual(inputs.former, { "w-2": "uid-w-2" });
    const again = await host.check(key, inputs, news);
    assert.ok((again.inputs.steps as string[]).includes(removal));
  });

  it("are refused under the name of a machine that has not joined, at another address", async () => {
    putNodes({ "w-1": "workers", "w-2": "workers" });
    const olds = group("workers", workers.slice(0, 1));
    const { refusals } = await host.check(key, olds, group("workers", workers.slice(0, 2)));
    assert.equal(refusals.length, 1);
    assert.match(
      refusals[0]!.reason,
      /w-2: the cluster has a Node of this name at 10\.9\.9\.9, which is not/,
    );
  });
});
