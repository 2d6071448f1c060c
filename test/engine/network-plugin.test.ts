import assert from "node:assert/strict";
import path from "node:path";
import { projectFolder } from "../../sandbox/paths";
import { TEST_NEEDS } from "../../sandbox/set-up";
import { desiredCluster } from "./desired-cluster";
import { simulatedFixture } from "./simulated-fixture";

const FIXTURES = path.join(projectFolder, "test", "engine", "fixtures");

describe("network plugins, through the kubernetes plugin", function () {
  this.timeout(600_000);
  const fixture = simulatedFixture({
    machines: ["cp-1", "w-1"],
    programs: TEST_NEEDS.programs,
    // the plugin deletes in the foreground, which the garbage collector ends
    controllers: ["garbage-collector-controller"],
  });
  const want = (plugin: object) =>
    fixture.stack.configure({
      cluster: desiredCluster(fixture.fleet, ["cp-1", "w-1"], { network: { plugin } }),
    });
  const exists = async (kind: string, namespace: string, name: string) => {
    const apiVersion = ["DaemonSet", "Deployment"].includes(kind) ? "apps/v1" : "v1";
    return (await fixture.kubernetes.get({ apiVersion, kind, namespace, name })) !== undefined;
  };
  const created = async () =>
    (await fixture.stack.preview())
      .filter(({ op, type }) => op === "create" && type.startsWith("kubernetes:"))
      .map(({ type }) => type.split(":").at(-1));

  it("installs a manifest, object by object, before the workers join", async () => {
    want({ manifest: { path: path.join(FIXTURES, "network.yaml") } });
    await fixture.stack.up();
    for (const [kind, name] of [
      ["ServiceAccount", "fake-network"],
      ["ConfigMap", "fake-network"],
      ["DaemonSet", "fake-network"],
      ["Deployment", "fake-controller"],
    ] as const)
      assert.ok(await exists(kind, "kube-system", name), `${kind} ${name}`);
    assert.deepEqual(Object.keys(await fixture.stack.up()), ["unchanged"]);
  });

  it("previews a chart's objects one per line, and installs them with their values in their namespace", async () => {
    const values = { podCidr: "10.244.0.0/16" };
    want({ chart: { chart: path.join(FIXTURES, "chart"), namespace: "fake", values } });
    assert.deepEqual((await created()).sort(), ["Chart", "ConfigMap", "DaemonSet", "Namespace"]);
    await fixture.stack.up();
    assert.ok(await exists("Namespace", "", "fake"));
    const settings = await fixture.kubernetes.get<{ data: Record<string, string> }>({
      apiVersion: "v1",
      kind: "ConfigMap",
      namespace: "fake",
      name: "test-network-settings",
    });
    assert.deepEqual(settings?.data, values);
    assert.ok(await exists("DaemonSet", "fake", "test-network-agent"));
    assert.equal(await exists("DaemonSet", "kube-system", "fake-network"), false);
    assert.deepEqual(Object.keys(await fixture.stack.up()), ["unchanged"]);
  });

  it("destroys the cluster without a request for each object", async () => {
    await fixture.stack.destroy();
    assert.equal(fixture.fleet.state("cp-1").marker, undefined);
  });
});
