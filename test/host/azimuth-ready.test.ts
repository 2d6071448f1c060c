import assert from "node:assert/strict";
import { acceptedKubeconfig, FetchedKubeconfig } from "../../lib/kubernetes";
import { API } from "../../providers/azimuth/plan/names";
import { AzimuthHost } from "./azimuth-host";

const namespace = "az-demo";
const labels = { "capi.stackhpc.com/cluster": "demo" };
const key = "azimuth/ClusterReady";
const WAIT = "wait at most 20 s until the control plane and all machines are ready";

describe("the wait for the machines of a cluster through Azimuth", function () {
  this.timeout(90_000);
  const fixture = new AzimuthHost();
  const inputs = (over: object = {}) =>
    fixture.inputs({ fingerprint: "1", timeoutSeconds: 20, ...over }) as Record<string, unknown>;

  const ownKubeconfig = () => acceptedKubeconfig(new FetchedKubeconfig("", fixture.api.kubeconfig()));

  /** Writes an object with a status, as its controller does. */
  async function put(apiVersion: string, kind: string, name: string, status: object, spec: object = {}) {
    const ref = { apiVersion, kind, namespace, name };
    const component = kind === "KubeadmControlPlane" ? "control-plane" : "worker";
    const own = { ...labels, "capi.stackhpc.com/component": component };
    await fixture.client.apply({ apiVersion, kind, metadata: { name, namespace, labels: own }, spec });
    await fixture.client.mergePatch(ref, { status }, { subresource: "status" });
  }
  const putMachine = (phase: string) =>
    put(API.clusterApi, "Machine", "w-1", {
      phase,
      conditions: [{ type: "NodeHealthy", status: phase === "Running" ? "True" : "False" }],
    });
  const putDeployment = (readyReplicas: number) =>
    put(API.clusterApi, "MachineDeployment", "demo-w", { replicas: 1, readyReplicas }, { replicas: 1 });

  it("is listed, changes nothing in a preview, and ends when everything is ready", async () => {
    await put(API.clusterApi, "Cluster", "demo", { phase: "Provisioned" });
    await putMachine("Provisioning");
    await putDeployment(0);
    const checked = (await fixture.host.check(key, {}, inputs())).inputs;
    assert.deepEqual(checked["steps"], [WAIT]);
    fixture.host.printed = "";
    const created = fixture.host.create(key, checked);
    const conditions = ["Ready", "ControlPlaneComponentsHealthy"].map((type) => ({ type, status: "True" }));
    await put(API.controlPlane, "KubeadmControlPlane", "demo", { conditions });
    await putMachine("Running");
    await putDeployment(1);
    const { outputs } = await created;
    assert.equal(outputs["clusterKubeconfig"], ownKubeconfig());
    assert.equal(outputs["phase"], "Unhealthy", "an addon has no status");
    const again = (await fixture.host.check(key, outputs, inputs())).inputs;
    assert.deepEqual(again["steps"], []);
    assert.deepEqual(await fixture.host.diff(key, outputs, again), { changes: false, replaces: [] });
  });

  it("is listed again for another specification and for a machine that is not ready, which it names", async () => {
    const changed = (await fixture.host.check(key, inputs(), inputs({ fingerprint: "2" }))).inputs;
    assert.deepEqual(changed["steps"], [WAIT]);
    await putMachine("Failed");
    const { inputs: due } = await fixture.host.check(key, inputs(), inputs());
    assert.deepEqual(due["steps"], [
      `${WAIT}: Unhealthy (network Provisioned, control plane Ready, w-1 Failed)`,
    ]);
    assert.equal((await fixture.host.diff(key, inputs(), due)).changes, true);
  });

  it("ends at its deadline with what is missing", async () => {
    await putMachine("Failed");
    await assert.rejects(
      fixture.host.create(key, inputs({ timeoutSeconds: 1 })),
      /waited 1 s for the machines of az-demo\/demo to be ready; last seen: Unhealthy \(.*w-1 Failed\)/,
    );
  });

  it("has the phase and the kubeconfig of now after a refresh", async () => {
    await putMachine("Running");
    const old = { ...inputs(), phase: "Ready", clusterKubeconfig: "old" };
    const now = await fixture.host.read(key, old);
    assert.deepEqual([now?.["phase"], now?.["clusterKubeconfig"]], ["Unhealthy", ownKubeconfig()]);
  });
});
