import assert from "node:assert/strict";
import path from "node:path";
import { projectFolder } from "../../sandbox/paths";
import { TEST_NEEDS } from "../../sandbox/set-up";
import { desiredCluster } from "./desired-cluster";
import { simulatedFixture } from "./simulated-fixture";

const FIXTURES = path.join(projectFolder, "test", "engine", "fixtures");

const manifest = { manifest: { path: path.join(FIXTURES, "network.yaml") } };
const chart = (values = {}) => ({
  chart: { chart: path.join(FIXTURES, "chart"), namespace: "fake", values },
});

describe("network plugins and settings that stay, through the kubernetes plugin", function () {
  this.timeout(600_000);
  const fixture = simulatedFixture({
    machines: ["cp-1", "w-1"],
    programs: TEST_NEEDS.programs,
    // the plugin deletes in the foreground, which the garbage collector ends
    controllers: ["garbage-collector-controller"],
  });
  const want = (plugin: object, others: object = {}) =>
    fixture.stack.configure({
      cluster: desiredCluster(fixture.fleet, ["cp-1", "w-1"], { network: { plugin }, ...others }),
    });
  const exists = async (kind: string, namespace: string, name: string) => {
    const apiVersion = ["DaemonSet", "Deployment"].includes(kind) ? "apps/v1" : "v1";
    return (await fixture.kubernetes.get({ apiVersion, kind, namespace, name })) !== undefined;
  };
  const chartSettings = async () => {
    const ref = { apiVersion: "v1", kind: "ConfigMap", namespace: "fake", name: "test-network-settings" };
    return (await fixture.kubernetes.get<{ data: Record<string, string> }>(ref))?.data;
  };

  it("installs a manifest, object by object, before the workers join", async () => {
    want(manifest);
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

  it("refuses another plugin under pods that run, with the reason, and touches nothing", async () => {
    want(chart());
    const { exitCode, stdout, stderr } = await fixture.stack.call(["up", "--yes"]);
    assert.notEqual(exitCode, 0);
    assert.match(
      stdout + stderr,
      /cluster\.network\.plugin: is "manifest" and can't become "chart": pods that run are in the network of the old plugin/,
    );
    assert.ok(await exists("DaemonSet", "kube-system", "fake-network"));
    assert.equal(await exists("Namespace", "", "fake"), false);
  });

  it("refuses a lower minor, a changed network and settings that no joined machine would get, with the alternative", async () => {
    for (const [change, words] of [
      [{ version: "1.35.4" }, /Kubernetes can't go down a minor to 1\.35\.4/],
      [
        { network: { plugin: manifest, podSubnet: "10.245.0.0/16" } },
        /cluster\.network\.podSubnet.*can't become "10\.245\.0\.0\/16"/s,
      ],
      [{ kubelet: { cgroupDriver: "cgroupfs" } }, /cluster\.kubelet\.cgroupDriver.*put the old value back/s],
    ] as const) {
      want(manifest, change);
      const { exitCode, stdout, stderr } = await fixture.stack.call(["preview"]);
      assert.notEqual(exitCode, 0);
      assert.match(stdout + stderr, words);
    }
  });

  it("records the plugin in a state of an earlier release without a step, and then refuses another", async () => {
    const exported = JSON.stringify(await fixture.stack.export());
    const earlier = exported.replaceAll('"networkPlugin":"manifest",', "");
    assert.notEqual(earlier, exported);
    assert.equal((await fixture.stack.call(["stack", "import"], { input: earlier })).exitCode, 0);
    want(manifest);
    assert.deepEqual(await fixture.stack.preview(), []);
    assert.deepEqual(Object.keys(await fixture.stack.up()), ["unchanged"]);
    want(chart());
    const { exitCode, stdout, stderr } = await fixture.stack.call(["preview"]);
    assert.notEqual(exitCode, 0);
    assert.match(stdout + stderr, /is "manifest" and can't become "chart"/);
    want(manifest);
    await fixture.stack.destroy();
    // the API server of the simulated machines outlives their cluster
    for (const name of ["cp-1", "w-1"])
      await fixture.kubernetes.delete({ apiVersion: "v1", kind: "Node", name });
  });

  it("installs a chart's objects with their values in their namespace, and previews a change one object per line", async () => {
    want(chart({ podCidr: "10.244.0.0/16" }));
    await fixture.stack.up();
    assert.ok(await exists("Namespace", "", "fake"));
    assert.ok(await exists("DaemonSet", "fake", "test-network-agent"));
    assert.deepEqual(await chartSettings(), { podCidr: "10.244.0.0/16" });
    assert.deepEqual(Object.keys(await fixture.stack.up()), ["unchanged"]);
    want(chart({ podCidr: "10.245.0.0/16" }));
    assert.deepEqual(
      (await fixture.stack.preview()).map(({ op, type }) => `${op} ${type}`),
      ["replace kubernetes:core/v1:ConfigMap"],
    );
    await fixture.stack.up();
    assert.deepEqual(await chartSettings(), { podCidr: "10.245.0.0/16" });
  });

  it("destroys the cluster without a request for each object", async () => {
    await fixture.stack.destroy();
    assert.equal(fixture.fleet.state("cp-1").marker, undefined);
  });
});
