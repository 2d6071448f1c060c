import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { MachinePool } from "../../../../components/machine-pool/machine-pool";
import { checkedPool } from "../../../../components/machine-pool/machine-pool-args";
import { KUBECONFIG, MockedEngine } from "../azimuth/mocked-engine";

const engine = new MockedEngine();
const ARGS = {
  ...{ namespace: "demo", cluster: "demo", replicas: 3, bootstrap: { dataSecretName: "data" } },
  infrastructure: { apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1", kind: "Pool", spec: {} },
};

/** The key by which the engine's protocol tells a secret. */
const SECRET = "4dabf18193072939515e22adb298388d";

describe("a MachinePool with secret kubeconfigs", () => {
  before(() => engine.start());

  it("has no other secret, so that previews show its changes", async () => {
    const kubeconfig = pulumi.secret(KUBECONFIG);
    const registered = await engine.run(
      (opts) => new MachinePool("pool-a", { ...ARGS, kubeconfig, workloadKubeconfig: kubeconfig }, opts),
    );
    const adoptions = registered.filter(({ urn }) => urn.includes("Adoption"));
    assert.equal(adoptions.length, 2);
    assert.ok(SECRET in (adoptions[0]?.inputs["kubeconfig"] as object));
    for (const { inputs } of adoptions) assert.equal(SECRET in (inputs["object"] as object), false);
  });

  it("has a readable manifest also when the machines' specification has a secret", async () => {
    const infrastructure = { ...ARGS.infrastructure, spec: { key: pulumi.secret("hunter2") } };
    const registered = await engine.run(
      (opts) => new MachinePool("pool-a", { ...ARGS, infrastructure, kubeconfig: KUBECONFIG }, opts),
    );
    const isOfPool = (object: unknown) => (object as { kind?: string } | undefined)?.kind === "MachinePool";
    const pool = registered.find(({ inputs }) => isOfPool(inputs["object"]));
    assert.ok(pool, "the object of the MachinePool is not readable");
    assert.doesNotMatch(JSON.stringify(pool.inputs["object"]), /hunter2/);
  });

  it("has plain annotations, since one of them decides who scales it", () => {
    const annotations = pulumi.output({ "cluster.x-k8s.io/replicas-managed-by": "autoscaler" });
    assert.throws(
      () => checkedPool("pool-a", { ...ARGS, kubeconfig: KUBECONFIG, annotations }),
      /annotations: decides which resources there are; write a plain value/,
    );
  });
});
