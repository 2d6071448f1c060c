import assert from "node:assert/strict";
import { evaluate, type Evaluation, waitWords } from "../../../../providers/machine-pool/plan/evaluation";
import { observePool } from "../../../../providers/machine-pool/plan/observed";

type Fields = Record<string, unknown>;
const IDS = ["sandbox://demo/pool-a-0", "sandbox://demo/pool-a-1"];
const owner = { apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", name: "demo", uid: "1" };

const conclusion = (pool: object): Evaluation =>
  evaluate(
    observePool(pool),
    { replicas: 2 },
    {
      isClusterPaused: false,
      nodes: IDS.map((providerID, index) => ({ name: `pool-a-${index}`, providerID, isReady: true })),
    },
  );

describe("evaluation of a MachinePool of v1beta2, as Cluster API 1.11.1 writes it", () => {
  const nodeRefs = [{ name: "pool-a-0" }, { name: "pool-a-1" }];
  const condition = (type: string, status: string, reason?: string) => ({ type, status, reason });
  const newer = (status: Fields) => ({
    metadata: { name: "pool-a", uid: "u", generation: 3, ownerReferences: [owner] },
    spec: { replicas: 2, providerIDList: IDS, template: { spec: { bootstrap: {} } } },
    status: {
      phase: "Running",
      observedGeneration: 3,
      initialization: { bootstrapDataSecretCreated: true, infrastructureProvisioned: true },
      replicas: 2,
      readyReplicas: 2,
      availableReplicas: 2,
      upToDateReplicas: 2,
      nodeRefs,
      conditions: [condition("Paused", "False", "NotPaused")],
      ...status,
    },
  });
  const older = (counts: Fields, conditions: object[] = []) => ({
    deprecated: { v1beta1: { ...counts, conditions } },
  });
  const bothReady = older({ readyReplicas: 2, availableReplicas: 2 });

  it("is ready when every machine has a ready node, whatever is available", () => {
    assert.deepEqual(conclusion(newer(bothReady)), { ready: true });
    const counted = { readyReplicas: 2, availableReplicas: 1, unavailableReplicas: 1 };
    assert.deepEqual(conclusion(newer(older(counted))), { ready: true });
  });

  it("is ready without the older fields, which a later release removes", () => {
    assert.deepEqual(conclusion(newer({})), { ready: true });
  });

  const waits: [what: string, status: Fields, words: RegExp][] = [
    [
      "nodes of which the newer counts know nothing",
      { phase: "ScalingUp", nodeRefs: [], ...older({ unavailableReplicas: 2 }) },
      /2 nodes, 0 have registered, 0 are ready/,
    ],
    ["a node that is not ready", older({ readyReplicas: 1 }), /2 have registered, 1 are ready/],
    ["nodes when a failure made the controller fall over", { deprecated: {} }, /2 have registered, 0 are/],
    ["machines of another template", { ...bothReady, upToDateReplicas: 1 }, /present template, 1 are/],
    [
      "data, by the older condition",
      {
        phase: "Pending",
        initialization: { bootstrapDataSecretCreated: false, infrastructureProvisioned: false },
        ...older({}, [condition("BootstrapReady", "False", "WaitingForDataSecret")]),
      },
      /bootstrap data, BootstrapReady is False \(WaitingForDataSecret\)/,
    ],
  ];
  for (const [what, status, words] of waits)
    it(`waits for ${what}`, () => {
      const object = newer(status);
      const found = conclusion(object);
      assert.match("waits" in found ? waitWords(observePool(object), found.waits) : "", words);
    });

  it("has failed by the older fields", () => {
    const failure = older({ failureReason: "X", failureMessage: "y" });
    assert.deepEqual(conclusion(newer(failure)), { failed: "its controllers have given it up: X: y" });
  });

  it("names what it refers to by group, and its own minReadySeconds with the machines'", () => {
    const [apiGroup, kind] = ["infrastructure.cluster.x-k8s.io", "SandboxMachinePool"];
    const spec = {
      minReadySeconds: 5,
      bootstrap: { dataSecretName: "x" },
      infrastructureRef: { apiGroup, kind, name: "p" },
    };
    const { infrastructure, bootstrapConfig, minReadySeconds } = observePool({
      ...newer(bothReady),
      spec: { template: { spec } },
    });
    assert.deepEqual(infrastructure, { group: apiGroup, kind, name: "p" });
    assert.deepEqual([bootstrapConfig, minReadySeconds], [undefined, 5]);
  });
});
