import assert from "node:assert/strict";
import fc from "fast-check";
import {
  evaluate,
  type Evaluation,
  waitWords,
  type ObservedPoolNode,
  Transitions,
} from "../../../../providers/machine-pool/plan/evaluation";
import { isScaledByOthers } from "../../../../providers/machine-pool/plan/manifest";
import { observePool } from "../../../../providers/machine-pool/plan/observed";

type Fields = Record<string, unknown>;
const IDS = ["sandbox://demo/pool-a-0", "sandbox://demo/pool-a-1"];
const owner = { apiVersion: "cluster.x-k8s.io/v1beta1", kind: "Cluster", name: "demo", uid: "1" };
const READY: ObservedPoolNode[] = IDS.map((providerID, index) => ({
  name: `pool-a-${index}`,
  providerID,
  isReady: true,
  version: "v1.29.4",
}));

/** A MachinePool of v1beta1 with two machines, Running, with some of its status and the rest replaced. */
function machinePool(
  status: Fields = {},
  { spec = {}, metadata = {} }: { spec?: Fields; metadata?: Fields } = {},
): object {
  return {
    apiVersion: "cluster.x-k8s.io/v1beta1",
    kind: "MachinePool",
    metadata: { name: "pool-a", uid: "u", generation: 3, ownerReferences: [owner], ...metadata },
    spec: {
      replicas: 2,
      providerIDList: IDS,
      template: { spec: { version: "v1.29.4", bootstrap: { configRef: {}, dataSecretName: "pool-a" } } },
      ...spec,
    },
    status: {
      phase: "Running",
      observedGeneration: 3,
      bootstrapReady: true,
      infrastructureReady: true,
      replicas: 2,
      readyReplicas: 2,
      availableReplicas: 2,
      nodeRefs: [{ name: "pool-a-0" }, { name: "pool-a-1" }],
      conditions: [{ type: "ReplicasReady", status: "True" }],
      ...status,
    },
  };
}

const conclusion = (
  pool: object,
  nodes: ObservedPoolNode[] | undefined = READY,
  version?: string,
): Evaluation =>
  evaluate(
    observePool(pool),
    { replicas: 2, ...(version && { version }) },
    { isClusterPaused: false, ...(nodes && { nodes }) },
  );

describe("evaluation of a MachinePool", () => {
  it("is ready when every machine has a ready node", () => {
    assert.deepEqual(conclusion(machinePool()), { ready: true });
  });

  // a pool's way from its making to Running, as Cluster API 1.7.1 writes it
  const way: [time: string, pool: object, stage: string, words: RegExp][] = [
    [
      "made",
      machinePool({ phase: "Pending", bootstrapReady: false }, { metadata: { ownerReferences: [] } }),
      "bootstrap",
      /Cluster to become its owner/,
    ],
    [
      "owned",
      machinePool({
        phase: "Pending",
        bootstrapReady: false,
        conditions: [{ type: "BootstrapReady", status: "False", reason: "WaitingForDataSecret" }],
      }),
      "bootstrap",
      /phase Pending, waits for bootstrap data, BootstrapReady is False \(WaitingForDataSecret\)/,
    ],
    [
      "with data",
      machinePool({
        phase: "Provisioning",
        infrastructureReady: false,
        conditions: [{ type: "InfrastructureReady", status: "False", reason: "X", message: "no room" }],
      }),
      "infrastructure",
      /phase Provisioning, waits for its infrastructure, InfrastructureReady is False \(X: no room\)/,
    ],
    [
      "before the change is seen",
      machinePool({ observedGeneration: 2 }),
      "infrastructure",
      /controller to see the change/,
    ],
    ["with one machine", machinePool({ replicas: 1 }), "infrastructure", /2 machines, there are 1/],
    [
      "with a stale list",
      machinePool({}, { spec: { replicas: 2, providerIDList: IDS.slice(1) } }),
      "infrastructure",
      /1 are listed/,
    ],
    [
      "without nodes, where ReplicasReady is True all the same",
      machinePool({
        phase: "ScalingUp",
        readyReplicas: undefined,
        availableReplicas: undefined,
        nodeRefs: [],
      }),
      "nodes",
      /2 nodes, 0 have registered, 0 are ready/,
    ],
    [
      "with one ready node",
      machinePool({ phase: "ScalingUp", readyReplicas: 1 }),
      "nodes",
      /2 have registered, 1 are ready/,
    ],
  ];
  for (const [time, pool, stage, words] of way)
    it(`waits for ${stage}: ${time}`, () => {
      const found = conclusion(pool);
      assert.ok("waits" in found, JSON.stringify(found));
      assert.equal(found.waits.stage, stage);
      assert.match(waitWords(observePool(pool), found.waits), words);
    });

  it("names the node that fails later, which the pool's own counts do not show", () => {
    const nodes = READY.map((node, index) =>
      index === 1 ? { ...node, isReady: false, reason: "Ready is Unknown" } : node,
    );
    assert.match(
      JSON.stringify(conclusion(machinePool(), nodes)),
      /node pool-a-1 is not Ready \(Ready is Unknown\)/,
    );
    assert.match(
      JSON.stringify(conclusion(machinePool(), READY.slice(1))),
      /no node has registered for .*pool-a-0/,
    );
  });

  it("names the node that does not have the version yet", () => {
    assert.match(
      JSON.stringify(conclusion(machinePool(), READY, "1.30.0")),
      /node pool-a-0 runs v1\.29\.4, not v1\.30\.0 yet/,
    );
    assert.deepEqual(conclusion(machinePool(), READY, "1.29.4"), { ready: true });
  });

  const ends: [string, Fields, Fields, RegExp][] = [
    [
      "a failure",
      { failureReason: "CreateError", failureMessage: "no flavor" },
      {},
      /given it up: CreateError: no flavor/,
    ],
    ["a deletion", {}, { deletionTimestamp: "2024-05-01T00:00:00Z" }, /being deleted/],
    [
      "a pause",
      { readyReplicas: 1 },
      { annotations: { "cluster.x-k8s.io/paused": "" } },
      /paused by the annotation/,
    ],
  ];
  for (const [what, status, metadata, words] of ends)
    it(`ends at once at ${what}`, () => {
      const found = conclusion(machinePool(status, { metadata }));
      assert.match("failed" in found ? found.failed : "", words);
    });

  it("says that the Cluster is paused, and ignores a pause when the pool is ready", () => {
    const around = { isClusterPaused: true, nodes: READY };
    const found = evaluate(observePool(machinePool({ replicas: 1 })), { replicas: 2 }, around);
    assert.match("failed" in found ? found.failed : "", /spec\.paused of its Cluster/);
    assert.deepEqual(evaluate(observePool(machinePool()), { replicas: 2 }, around), { ready: true });
  });

  it("is never ready while a replica is missing, whatever the pool says", () => {
    // most counts are the desired one, or a ready pool would hardly ever be generated
    const wanted = fc.integer({ min: 0, max: 4 });
    const mostly = <T>(usual: T, others: fc.Arbitrary<T>) =>
      fc.oneof({ weight: 12, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: others });
    const pool = wanted.chain((desired) => {
      const count = mostly(desired, fc.integer({ min: 0, max: 4 }));
      const flag = mostly(true, fc.boolean());
      return fc.record({
        desired: fc.constant(desired),
        wanted: count,
        replicas: count,
        ready: count,
        available: count,
        refs: count,
        listed: count,
        nodes: fc.array(flag, { minLength: Math.max(0, desired - 1), maxLength: desired + 1 }),
        flags: fc.tuple(flag, flag, flag),
        phase: mostly("Running", fc.constantFrom("Pending", "ScalingUp", "Failed")),
        observedGeneration: mostly(3, fc.integer({ min: 1, max: 3 })),
        condition: mostly("True", fc.constant("False")),
      });
    });
    let readyPools = 0;
    fc.assert(
      fc.property(pool, (p) => {
        const [bootstrapReady, infrastructureReady, isOwned] = p.flags;
        const ids = (many: number) => Array.from({ length: many }, (_, index) => `x://${index}`);
        const object = machinePool(
          {
            phase: p.phase,
            bootstrapReady,
            infrastructureReady,
            observedGeneration: p.observedGeneration,
            replicas: p.replicas,
            readyReplicas: p.ready,
            availableReplicas: p.available,
            nodeRefs: ids(p.refs).map((name) => ({ name })),
            conditions: ["ReplicasReady", "InfrastructureReady", "Ready"].map((type) => ({
              type,
              status: p.condition,
            })),
          },
          {
            spec: { replicas: p.wanted, providerIDList: ids(p.listed) },
            metadata: isOwned ? {} : { ownerReferences: [] },
          },
        );
        const nodes = p.nodes.map((isReady, index) => ({
          name: `n${index}`,
          providerID: `x://${index}`,
          isReady,
        }));
        const found = evaluate(
          observePool(object),
          { replicas: p.desired },
          { isClusterPaused: false, nodes },
        );
        if (!("ready" in found)) return;
        readyPools++;
        const readyNodes = nodes.filter(({ isReady }) => isReady).length;
        assert.ok(readyNodes >= p.desired, "a replica is missing");
        assert.deepEqual([p.replicas, p.ready, p.refs, p.listed], Array(4).fill(p.desired));
        assert.ok(bootstrapReady && infrastructureReady && isOwned && p.observedGeneration === 3);
      }),
      { numRuns: 2000 },
    );
    assert.ok(readyPools > 50, `only ${readyPools} of the random pools were ready`);
  });
});

describe("the number of replicas of a MachinePool", () => {
  const table: [value: string | undefined, isScaledByOthers: boolean][] = [
    [undefined, false],
    ["false", false],
    ["external-autoscaler", true],
  ];
  for (const [value, expected] of table)
    it(`${expected ? "belongs to another component" : "is the specification's"} with ${value}`, () => {
      const annotations: Record<string, string> = value
        ? { "cluster.x-k8s.io/replicas-managed-by": value }
        : {};
      assert.equal(isScaledByOthers({ annotations }), expected);
    });
});

describe("the transitions of a MachinePool", () => {
  it("are not reported for a pool that had completed them before", () => {
    const told = new Transitions({});
    assert.deepEqual(told.seen(observePool(machinePool())), []);
    assert.deepEqual(told.seen(observePool(machinePool({ phase: "ScalingUp" }))), ["phase ScalingUp"]);
  });

  it("are reported for what happened after the last run and before the first look", () => {
    const counts = { replicas: 1, ready: 1, available: 1, unavailable: 0 };
    const told = new Transitions({ phase: "Running", counts, wanted: 1 });
    assert.deepEqual(told.seen(observePool(machinePool())), [
      "2 of 2 replicas: 2 ready, 2 available, 0 unavailable",
    ]);
  });

  it("are reported once each, when they happen", () => {
    const told = new Transitions(undefined);
    const seen = (status: Fields) => told.seen(observePool(machinePool(status)));
    assert.deepEqual(seen({ phase: "Pending", bootstrapReady: false, infrastructureReady: false }), [
      "its Cluster has become its owner",
      "phase Pending",
    ]);
    assert.deepEqual(seen({ phase: "Provisioning", infrastructureReady: false }), [
      "bootstrap is ready, data in the Secret pool-a",
      "phase Provisioning",
    ]);
    assert.deepEqual(seen({ phase: "Provisioning", infrastructureReady: false }), []);
    assert.deepEqual(seen({ phase: "ScalingUp", availableReplicas: 1, readyReplicas: 0 }), [
      "infrastructure is ready",
      "phase ScalingUp",
      "2 of 2 replicas: 0 ready, 1 available, 1 unavailable",
    ]);
  });
});
