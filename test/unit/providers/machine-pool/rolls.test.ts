import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "mocha";
import { handlers } from "../../../../providers/machine-pool/resources/machine-pool-ready-handlers";
import type {
  PoolInputs,
  PoolOutputs,
} from "../../../../providers/machine-pool/resources/machine-pool-ready";
import { TestAuthority } from "../../../support/certificates";
import { kubeconfigOf, TestKubernetesServer } from "../../../support/kubernetes-server";

const CLUSTER_API = "cluster.x-k8s.io/v1beta1";
const SANDBOX = "infrastructure.example.org/v1";
const REF = { name: "pool-a", namespace: "demo" };

describe("a MachinePool whose provider reports nothing about a roll", () => {
  const folder = mkdtempSync(join(tmpdir(), "foresail-rolls-"));
  const authority = new TestAuthority(folder);
  let server: TestKubernetesServer;

  before(async () => {
    server = await new TestKubernetesServer(
      authority.issue("server", "/CN=server", ["IP:127.0.0.1"]),
    ).listen();
    const kinds = (apiVersion: string, ...names: [kind: string, plural: string][]) => {
      const resources = names.map(([kind, name]) => ({ kind, name, namespaced: true }));
      server.store.put(`/apis/${apiVersion}`, { resources });
    };
    server.store.put("/api", {});
    kinds(CLUSTER_API, ["MachinePool", "machinepools"], ["Cluster", "clusters"]);
    kinds(SANDBOX, ["SamplePool", "samplepools"]);
  });
  after(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });

  /** Writes what the controllers do, for a pool of these machines: Ready and Running, whatever its template is. */
  function machines(...ids: string[]): void {
    const nodes = ids.map((id) => ({ name: `n-${id}` }));
    const owner = { apiVersion: CLUSTER_API, kind: "Cluster", name: "demo", uid: "c" };
    const infrastructureRef = { apiVersion: SANDBOX, kind: "SamplePool", name: REF.name };
    const count = ids.length;
    server.store.put(`/apis/${CLUSTER_API}/namespaces/demo/machinepools/pool-a`, {
      metadata: { ...REF, uid: "pool-uid", ownerReferences: [owner] },
      spec: {
        replicas: count,
        providerIDList: ids.map((id) => `x://${id}`),
        template: { spec: { bootstrap: { dataSecretName: "data" }, infrastructureRef } },
      },
      status: {
        ...{ phase: "Running", bootstrapReady: true, infrastructureReady: true },
        ...{ replicas: count, readyReplicas: count, nodeRefs: nodes },
      },
    });
    ids.forEach((id) =>
      server.store.put(`/api/v1/nodes/n-${id}`, {
        metadata: { name: `n-${id}`, creationTimestamp: `2026-01-01T00:0${id}:00Z` },
        spec: { providerID: `x://${id}` },
        status: { conditions: [{ type: "Ready", status: "True" }] },
      }),
    );
  }
  /** Writes the infrastructure object as foresail did at a minute. */
  const written = (minute: number, flavor: string) => {
    const owner = {
      apiVersion: CLUSTER_API,
      kind: "MachinePool",
      name: REF.name,
      uid: "pool-uid",
      controller: true,
    };
    const time = `2026-01-01T00:0${minute}:00Z`;
    server.store.put(`/apis/${SANDBOX}/namespaces/demo/samplepools/pool-a`, {
      metadata: {
        ...REF,
        ownerReferences: [owner],
        managedFields: [{ manager: "foresail", operation: "Apply", time }],
      },
      spec: { flavor },
      status: { ready: true, conditions: [{ type: "Ready", status: "True" }] },
    });
  };
  const inputs = (flavor: string, over: Partial<PoolInputs> = {}): PoolInputs => {
    const kubeconfig = kubeconfigOf(authority, [server]);
    return {
      ...{ kubeconfig, workloadKubeconfig: kubeconfig, stack: "demo/test", apiVersion: CLUSTER_API },
      ...{ ...REF, cluster: "demo", replicas: 2 },
      template: { infrastructure: "SamplePool pool-a", rest: { infrastructure: { flavor } } },
      timeouts: { bootstrap: 5, infrastructure: 0.3, nodes: 5 },
      ...over,
    };
  };
  const check = async (olds: Partial<PoolInputs>, news: PoolInputs) =>
    (await handlers.check!(olds, news)).inputs as PoolInputs;
  const left = (words: string) => `${words} machines to be replaced, which are of an earlier template`;

  it("is followed until every machine of before is replaced, and each preview says what is left", async () => {
    machines("0", "1");
    written(0, "a");
    const first = await check({}, inputs("a"));
    assert.deepEqual([first.steps, first.outdated], [[], undefined]);
    const outputs: PoolOutputs = {
      ...first,
      ...{ uid: "pool-uid", ready: true, phase: "Running", nodes: [] },
      counts: { replicas: 2, ready: 2, available: 2, unavailable: 0 },
    };

    const previewed = await check(first, inputs("b"));
    written(5, "b");
    const changed = await check(first, inputs("b"));
    assert.deepEqual(changed, previewed, "a plan binds the run to these inputs");
    assert.equal(changed.steps?.[0], "pool-a: roll all 2 nodes, made from another template");
    assert.deepEqual(
      changed.outdated?.flatMap((group) => group.machines),
      ["x://0", "x://1"],
    );
    const failure = (await handlers.update!("demo/pool-a", outputs, changed).then(
      () => assert.fail("it ended before the roll"),
      (error: unknown) => error,
    )) as Error & { properties?: PoolOutputs };
    assert.match(
      failure.message,
      new RegExp(`last seen: phase Running, waits for ${left("2 of 2")}.*inPlaceFields`),
    );

    // one of them is replaced; the state has the change, or not yet, since the run failed
    machines("1", "6");
    const pending = await check(changed, inputs("b"));
    for (const { steps } of [pending, await check(first, inputs("b"))])
      assert.match(String(steps), new RegExp(`^pool-a: phase Running, waits for ${left("1 of 2")}: x://1$`));
    const { changes } = (await handlers.diff!("demo/pool-a", { ...outputs, ready: false }, pending)) as {
      changes: boolean;
    };
    assert.ok(changes);
    const scaled = await check(changed, inputs("b", { replicas: 3 }));
    assert.equal(scaled.steps?.[0], "pool-a: finish the roll, 1 machine of an earlier template left");
    // the change is taken back: the other one has to go
    written(7, "a");
    const back = await check(changed, inputs("a"));
    assert.deepEqual(
      back.outdated?.flatMap((group) => group.machines),
      ["x://6"],
    );

    machines("6", "8");
    const done = await check(pending, inputs("b"));
    assert.deepEqual([done.steps, done.outdated], [[], undefined]);
    const { outs } = (await handlers.update!("demo/pool-a", outputs, done)) as { outs: PoolOutputs };
    assert.ok(outs.ready);
  });
});
