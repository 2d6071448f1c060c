import assert from "node:assert/strict";
import {
  machinePoolManifest,
  type PoolSpecification,
} from "../../../../providers/machine-pool/plan/manifest";
import { machinePoolSteps, type PoolBefore, poolSteps } from "../../../../providers/machine-pool/plan/steps";

const same = { change: "none" } as const;
const WAIT = "p: wait until every node is Ready";

describe("the steps of a change of a MachinePool", () => {
  const table: [
    what: string,
    plan: { replicas?: number; version?: string },
    before: PoolBefore | undefined,
    steps: string[],
  ][] = [
    ["a new pool", { replicas: 1 }, undefined, ["p: make a pool of 1 node", WAIT]],
    [
      "a new pool of an autoscaler",
      {},
      undefined,
      ["p: make a pool of as many nodes as its autoscaler wants", WAIT],
    ],
    ["nothing", { replicas: 3 }, { replicas: 3, ...same }, []],
    ["more", { replicas: 5 }, { replicas: 3, ...same }, ["p: scale 3 → 5, 2 nodes more", WAIT]],
    ["less", { replicas: 2 }, { replicas: 3, ...same }, ["p: scale 3 → 2, 1 node less", WAIT]],
    [
      "another version and less",
      { replicas: 2, version: "1.30.0" },
      { replicas: 3, version: "v1.29.4", ...same },
      ["p: roll all 2 nodes, v1.29.4 → v1.30.0", "p: scale 3 → 2, 1 node less", WAIT],
    ],
    [
      "the same version with a v",
      { replicas: 3, version: "1.29.4" },
      { replicas: 3, version: "v1.29.4", ...same },
      [],
    ],
    [
      "another template",
      { replicas: 3 },
      { replicas: 3, change: "roll" },
      ["p: roll all 3 nodes, made from another template", WAIT],
    ],
    [
      "another infrastructure",
      { replicas: 3 },
      { replicas: 3, change: "replace" },
      ["p: replace all 3 nodes, made by another infrastructure", WAIT],
    ],
    [
      "a field that concerns new machines",
      { replicas: 3 },
      { replicas: 3, change: "keep" },
      ["p: keep all 3 nodes, the change is for new ones", WAIT],
    ],
    [
      "another bootstrap",
      { replicas: 3 },
      { replicas: 3, change: "open" },
      ["p: its infrastructure provider decides whether 3 nodes are replaced", WAIT],
    ],
    [
      "the number while an earlier roll has not ended",
      { replicas: 4 },
      { replicas: 3, outdated: 2, ...same },
      ["p: finish the roll, 2 machines of an earlier template left", "p: scale 3 → 4, 1 node more", WAIT],
    ],
  ];
  for (const [what, plan, before, steps] of table)
    it(`of ${what}`, () =>
      assert.deepEqual(poolSteps({ name: "p", ...plan }, before).map(machinePoolSteps.format), steps));
});

describe("the manifest of a MachinePool", () => {
  const specification: PoolSpecification = {
    api: "v1beta1",
    namespace: "demo",
    name: "p",
    cluster: "c",
    replicas: 3,
    version: "1.30.0",
    bootstrap: {
      configRef: { apiVersion: "bootstrap.cluster.x-k8s.io/v1beta1", kind: "KubeadmConfig", name: "p" },
    },
    infrastructureRef: {
      apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
      kind: "AWSMachinePool",
      name: "p",
    },
    labels: {},
    annotations: {},
    failureDomains: [],
    nodeDrainTimeoutSeconds: 60,
  };

  it("of v1beta1 refers by version and namespace", () => {
    const { spec } = machinePoolManifest(specification);
    assert.deepEqual(spec.template.spec, {
      clusterName: "c",
      version: "v1.30.0",
      bootstrap: {
        configRef: {
          apiVersion: "bootstrap.cluster.x-k8s.io/v1beta1",
          kind: "KubeadmConfig",
          name: "p",
          namespace: "demo",
        },
      },
      infrastructureRef: {
        apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
        kind: "AWSMachinePool",
        name: "p",
        namespace: "demo",
      },
      nodeDrainTimeout: "60s",
    });
  });

  it("of v1beta2 refers by group, and has its durations in seconds", () => {
    const { apiVersion, spec } = machinePoolManifest({ ...specification, api: "v1beta2" });
    assert.equal(apiVersion, "cluster.x-k8s.io/v1beta2");
    assert.deepEqual(spec.template.spec.infrastructureRef, {
      apiGroup: "infrastructure.cluster.x-k8s.io",
      kind: "AWSMachinePool",
      name: "p",
    });
    assert.deepEqual((spec.template.spec as { deletion?: object }).deletion, { nodeDrainTimeoutSeconds: 60 });
  });

  it("has the deadlines and readiness gates of Machines, and the empty Secret of a managed pool", () => {
    const more = {
      ...specification,
      nodeDeletionTimeoutSeconds: 0,
      nodeVolumeDetachTimeoutSeconds: 90,
      readinessGates: [{ conditionType: "example.com/Checked" }],
      bootstrap: { dataSecretName: "" },
    };
    const { nodeDeletionTimeout, nodeVolumeDetachTimeout, readinessGates, bootstrap } = machinePoolManifest(
      more,
    ).spec.template.spec as Record<string, unknown>;
    assert.deepEqual(
      { nodeDeletionTimeout, nodeVolumeDetachTimeout, readinessGates, bootstrap },
      {
        nodeDeletionTimeout: "0s",
        nodeVolumeDetachTimeout: "90s",
        readinessGates: more.readinessGates,
        bootstrap: { dataSecretName: "" },
      },
    );
    const { spec } = machinePoolManifest({ ...more, api: "v1beta2" });
    assert.deepEqual((spec.template.spec as { deletion?: object }).deletion, {
      nodeDrainTimeoutSeconds: 60,
      nodeDeletionTimeoutSeconds: 0,
      nodeVolumeDetachTimeoutSeconds: 90,
    });
  });

  it("has no field that Cluster API writes itself", () => {
    const text = JSON.stringify(machinePoolManifest(specification));
    assert.doesNotMatch(text, /providerIDList|dataSecretName|ownerReferences|finalizers|status/);
  });
});
