import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import path from "node:path";
import { waitFor } from "../../lib/wait";
import { CLUSTER_API, SANDBOX_KINDS, type ProviderKinds } from "../../sandbox/capi/kinds";
import { registerCluster } from "../../sandbox/capi/workload-cluster";
import { projectFolder } from "../../sandbox/paths";
import { AWS_KINDS, machinePoolFixture, poolStack, type PoolObject } from "./machine-pool-fixture";
import type { TestStack } from "./test-stack";

interface Outputs {
  nodes: { name: string; version: string }[];
  phase: string;
}

/**
 * The files are used unchanged: a user sets the secret `managementKubeconfig` beside them, and so does the test.
 * What a sandbox can't have is behind the API: Cluster API's manager is the real one, and the providers of AWS and
 * kubeadm are fakes that serve the same kinds, accept any specification and create machines that are Node objects.
 */
describe("the examples of machine pools, as files on the sandbox", function () {
  this.timeout(120_000);
  const fixture = machinePoolFixture({ milliseconds: 100 });

  /** A stack of the name that the example's file is for, with that file. */
  const stackOf = (name: string): Promise<TestStack> => {
    const file = `Pulumi.${name}.yaml`;
    copyFileSync(
      path.join(projectFolder, "examples", "machine-pool", file),
      path.join(fixture.folder, "stacks", "config", file),
    );
    return poolStack(fixture, name);
  };
  const up = async (stack: TestStack): Promise<Outputs> => {
    await stack.up();
    return (await stack.outputs()) as unknown as Outputs;
  };
  const nodes = async () =>
    (await fixture.capi.kubernetes.listNodes()).map(({ metadata }) => metadata?.name ?? "").sort();
  const objectsLeft = async (namespace: string, name: string, { config, pool }: ProviderKinds) => {
    const found = await Promise.all(
      [{ apiVersion: CLUSTER_API, kind: "MachinePool" }, config, pool].map(({ apiVersion, kind }) =>
        fixture.capi.kubernetes.get({ apiVersion, kind, namespace, name }),
      ),
    );
    return [...found.filter((object) => object !== undefined), ...(await nodes())];
  };

  it("brings Pulumi.sandbox.yaml up and down", async () => {
    const stack = await stackOf("sandbox");
    const names = ["pool-b-0", "pool-b-1", "pool-b-2"];
    const made = await up(stack);
    assert.deepEqual(
      [made.phase, made.nodes.map(({ name, version }) => [name, version])],
      ["Running", names.map((name) => [name, "v1.36.3"])],
    );
    assert.deepEqual(await nodes(), names);
    assert.deepEqual(await stack.preview(), []);
    await stack.destroy();
    assert.deepEqual(await objectsLeft("demo", "pool-b", SANDBOX_KINDS), []);
  });

  it("brings Pulumi.prod-eu1.yaml up, leaves the replicas to its autoscaler, and destroys it", async () => {
    const { kubernetes, api } = fixture.capi;
    await fixture.capi.serveKinds(AWS_KINDS);
    await registerCluster(kubernetes, { namespace: "clusters", name: "prod-eu1" }, api.kubeconfig());
    const stack = await stackOf("prod-eu1");
    const made = await up(stack);
    assert.deepEqual(
      [made.phase, made.nodes.map(({ version }) => version)],
      ["Running", [0, 1, 2].map(() => "v1.30.2")],
    );
    const pool = { apiVersion: CLUSTER_API, kind: "MachinePool", namespace: "clusters", name: "workers-a" };
    const machines = { ...AWS_KINDS.pool, namespace: "clusters", name: "workers-a" };
    assert.deepEqual((await kubernetes.get<{ spec: object }>(machines))?.spec, {
      minSize: 1,
      maxSize: 10,
      awsLaunchTemplate: {
        instanceType: "m6i.large",
        iamInstanceProfile: "nodes.cluster-api-provider-aws.sigs.k8s.io",
      },
      providerIDList: [0, 1, 2].map((index) => `sandbox://clusters/workers-a-${index}`),
    });
    await kubernetes.mergePatch(pool, { spec: { replicas: 4 } });
    await waitFor<void>({
      what: "the autoscaler's node",
      seconds: 40,
      probe: async () => {
        const { length } = await nodes();
        return length === 4 ? { done: undefined } : { pending: `${length} nodes` };
      },
    });
    await stack.up();
    assert.equal((await kubernetes.get<PoolObject>(pool))?.spec.replicas, 4);
    assert.deepEqual(await stack.preview(), []);
    await stack.destroy();
    assert.deepEqual(await objectsLeft("clusters", "workers-a", AWS_KINDS), []);
  });
});
