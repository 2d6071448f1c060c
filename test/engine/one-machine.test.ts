import assert from "node:assert/strict";
import { desiredCluster } from "./desired-cluster";
import { simulatedFixture } from "./simulated-fixture";

const ROLE = "node-role.kubernetes.io/control-plane";
const UNTAINTED = {
  initConfiguration: { nodeRegistration: { taints: [] } },
  joinConfiguration: { nodeRegistration: { taints: [] } },
};

describe("a cluster of one machine that runs pods, under the engine", () => {
  const fixture = simulatedFixture({ machines: ["cp-1"], milliseconds: { prepare: 50 } });
  const want = (kubeadm: object = UNTAINTED) =>
    fixture.stack.configure({ cluster: desiredCluster(fixture.fleet, ["cp-1"], { kubeadm }) });
  const node = async () => {
    const found = await fixture.kubernetes.getNode("cp-1");
    // no controller removes what the API server itself writes to a new Node
    const isTainted = (found?.spec?.taints ?? []).some(({ key }) => key === ROLE);
    return { role: found?.metadata?.labels?.[ROLE], isTainted };
  };

  it("comes up without the taint of control planes, and the next preview is empty", async () => {
    want();
    await fixture.stack.up();
    assert.deepEqual(await node(), { role: "", isTainted: false });
    assert.deepEqual(await fixture.stack.preview(), []);
  });

  it("gets back a Node without the taint, when its Node was deleted by hand", async () => {
    await fixture.kubernetes.delete({ apiVersion: "v1", kind: "Node", name: "cp-1" });
    await fixture.stack.up();
    assert.deepEqual(await node(), { role: "", isTainted: false });
    assert.deepEqual(await fixture.stack.preview(), []);
  });

  it("is destroyed", async () => {
    await fixture.stack.destroy();
    assert.equal(fixture.fleet.state("cp-1").marker, undefined);
  });

  it("has the taint, when nothing is said about it", async () => {
    want({});
    await fixture.stack.up();
    assert.deepEqual(await node(), { role: "", isTainted: true });
    await fixture.stack.destroy();
  });
});
