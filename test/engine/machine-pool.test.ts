import assert from "node:assert/strict";
import { CLUSTER_API } from "../../sandbox/capi/kinds";
import {
  machinePoolFixture,
  poolConfiguration,
  type PoolObject,
  poolStack,
  upWhileProvidersAreAway,
} from "./machine-pool-fixture";
import type { TestStack } from "./test-stack";

type Fields = Record<string, unknown>;

// Cluster API's controller reads some of many new nodes again only after 30 s
const MANY = process.env.FORESAIL_TEST_ALL === "1" ? 200 : 20;

describe("a MachinePool through the engine, with Cluster API's own manager", function () {
  this.timeout(120_000);
  const fixture = machinePoolFixture({ milliseconds: 150 });
  const ref = { apiVersion: CLUSTER_API, kind: "MachinePool", namespace: "demo", name: "pool-a" };
  const pool = () => fixture.capi.kubernetes.get<PoolObject>(ref);
  const patch = (change: object) => fixture.capi.kubernetes.mergePatch(ref, change);
  const nodes = async () =>
    (await fixture.capi.kubernetes.listNodes()).map(({ metadata }) => metadata?.name ?? "");
  const configure = (fields: Fields) => fixture.stack.configure(poolConfiguration(fields));
  const stepsOf = async () => {
    const steps = await fixture.stack.preview();
    return steps.find(({ name }) => name === "pool-a-ready")?.inputs["steps"];
  };
  /** Runs `up`, which has to succeed. @returns what it said */
  const up = async () => {
    const { exitCode, stdout, stderr } = await fixture.stack.call(["up", "--yes", "--skip-preview"]);
    assert.equal(exitCode, 0, stdout + stderr);
    return stdout;
  };
  const failingUp = async () => {
    const { exitCode, stdout, stderr } = await fixture.stack.call(["up", "--yes", "--skip-preview"]);
    assert.notEqual(exitCode, 0, "it should have failed");
    return stdout + stderr;
  };

  it("is created with the objects that it refers to and followed through its phases; the second up is empty", async () => {
    configure({ replicas: 0 });
    assert.deepEqual(await stepsOf(), [
      "pool-a: make a pool of 0 nodes",
      "pool-a: wait until every node is Ready",
    ]);
    let said = await up();
    configure({ replicas: 3 });
    said += await up();
    let from = 0;
    for (const line of [
      "its Cluster has become its owner",
      "bootstrap is ready, data in the Secret pool-a-bootstrap",
      "infrastructure is ready",
      "phase Running",
      "3 of 3 replicas: 3 ready, 3 available, 0 unavailable",
      "every node is Ready: pool-a-0, pool-a-1, pool-a-2",
    ]) {
      const at = said.indexOf(line, from);
      assert.ok(at >= 0, `${line}\nin its turn in\n${said}`);
      from = line.startsWith("phase Running") ? from : at;
    }
    assert.deepEqual(await fixture.stack.preview(), []);
    const { spec, status } = (await pool())!;
    assert.deepEqual([spec.replicas, spec.providerIDList?.length, status?.phase], [3, 3, "Running"]);
  });

  it("is scaled to 5 and to 2, as the preview says", async () => {
    for (const [replicas, step] of [
      [5, "pool-a: scale 3 → 5, 2 nodes more"],
      [2, "pool-a: scale 5 → 2, 3 nodes less"],
    ] as const) {
      configure({ replicas });
      assert.deepEqual(await stepsOf(), [step, "pool-a: wait until every node is Ready"]);
      await up();
      assert.equal((await nodes()).length, replicas);
    }
  });

  it("is rolled to another version, and up ends when the last node has it", async () => {
    const before = await nodes();
    configure({ replicas: 2, version: "1.30.0" });
    assert.deepEqual(await stepsOf(), [
      "pool-a: roll all 2 nodes, v1.29.4 → v1.30.0",
      "pool-a: wait until every node is Ready",
    ]);
    await up();
    const { nodes: made } = (await fixture.stack.outputs()) as { nodes: { name: string; version: string }[] };
    assert.deepEqual(
      made.map(({ version }) => version),
      ["v1.30.0", "v1.30.0"],
    );
    assert.deepEqual(
      made.filter(({ name }) => before.includes(name)),
      [],
    );
    assert.deepEqual(await fixture.stack.preview(), []);
  });

  it("is rolled to another template, and up ends when every node is created from it", async () => {
    const before = await nodes();
    fixture.stack.configure(
      poolConfiguration({ replicas: 2, version: "1.30.0" }, { spec: { template: { flavor: "large" } } }),
    );
    assert.deepEqual(await stepsOf(), [
      "pool-a: roll all 2 nodes, made from another template",
      "pool-a: wait until every node is Ready",
    ]);
    await upWhileProvidersAreAway(fixture);
    const made = await nodes();
    assert.equal(made.length, 2);
    assert.deepEqual(
      made.filter((name) => before.includes(name)),
      [],
    );
    configure({ replicas: 2, version: "1.30.0" });
    await up();
  });

  it("shows a node that fails after the pool was Running, which Cluster API does not notice", async () => {
    const [name = ""] = await nodes();
    const node = { apiVersion: "v1", kind: "Node", name };
    const ready = (status: string, reason: string) =>
      fixture.capi.kubernetes.mergePatch(
        node,
        { status: { conditions: [{ type: "Ready", status, reason, message: "" }] } },
        { subresource: "status" },
      );
    await ready("Unknown", "NodeStatusUnknown");
    assert.equal((await pool())?.status?.phase, "Running");
    assert.deepEqual(await stepsOf(), [
      `pool-a: phase Running, waits for node ${name} is not Ready (Ready is Unknown, NodeStatusUnknown)`,
    ]);
    assert.equal((await fixture.stack.refresh())["updated"], 1);
    configure({ replicas: 2, version: "1.30.0", timeouts: { nodesSeconds: 1 } });
    assert.match(await failingUp(), new RegExp(`waited 1 s for .*; last seen: node ${name} is not Ready`));
    await ready("True", "KubeletReady");
    await up();
    assert.deepEqual(await fixture.stack.preview(), []);
  });

  it("says at once that it is paused, and by what", async () => {
    await patch({ metadata: { annotations: { "cluster.x-k8s.io/paused": "" } } });
    configure({ replicas: 3, version: "1.30.0" });
    assert.match(
      await failingUp(),
      /paused by the annotation cluster\.x-k8s\.io\/paused of MachinePool pool-a/,
    );
    await patch({ metadata: { annotations: { "cluster.x-k8s.io/paused": null } } });
    await up();
    assert.equal((await nodes()).length, 3);
  });

  it("is created again when someone deleted it", async () => {
    await fixture.capi.kubernetes.delete(ref);
    await fixture.capi.kubernetes.watchUntil({
      ...ref,
      what: "the pool to be gone",
      seconds: 20,
      decide: ([object]) => (object === undefined ? { done: true } : { pending: "there" }),
    });
    const preview = await fixture.stack.preview();
    assert.deepEqual(
      Object.fromEntries(preview.map(({ name, inputs }) => [name, (inputs["steps"] as string[])[0]])),
      {
        "pool-a-bootstrap": "make SandboxConfig demo/pool-a",
        "pool-a-infrastructure": "make SandboxMachinePool demo/pool-a",
        "pool-a": "make MachinePool demo/pool-a",
        "pool-a-ready": "pool-a: make a pool of 3 nodes",
      },
    );
    await up();
    assert.equal((await nodes()).length, 3);
  });

  it("leaves the number of replicas to an autoscaler that the annotation names", async () => {
    const annotations = { "cluster.x-k8s.io/replicas-managed-by": "external-autoscaler" };
    configure({ replicas: 3, version: "1.30.0", annotations });
    await up();
    await patch({ spec: { replicas: 4 } });
    configure({ replicas: 3, version: "1.30.0", annotations, labels: { team: "a" } });
    await up();
    assert.equal((await pool())?.spec.replicas, 4);
    assert.equal((await nodes()).length, 4);
    assert.deepEqual(await fixture.stack.preview(), []);
  });

  it("is refused with Cluster API's own message when its webhook refuses it", async () => {
    await fixture.capi.registerWebhook();
    configure({ replicas: 4, version: "1.30.0", cluster: "other" });
    assert.match(await failingUp(), /denied the request.*clusterName.*immutable/s);
    await fixture.capi.removeWebhook();
  });

  it(`has ${MANY} nodes as objects, and none at the end`, async () => {
    configure({ replicas: MANY, version: "1.30.0", timeouts: { nodesSeconds: 60 } });
    await up();
    assert.equal((await nodes()).length, MANY);
    assert.deepEqual(await fixture.stack.preview(), []);
    await fixture.stack.destroy();
    assert.deepEqual([await pool(), await nodes()], [undefined, []]);
  });

  it("is refused for a copy of its stack, and handed over only by takeOver, as steps of the preview", async () => {
    const { stack } = fixture;
    configure({ replicas: 1 });
    await up();
    const id = await identityOf(stack);
    const other = await poolStack(fixture, "other");
    const refuses = async (which: TestStack, owner: string, commands: readonly string[][]) => {
      for (const args of commands) {
        const { exitCode, stdout, stderr } = await which.call(args);
        assert.notEqual(exitCode, 0, stdout);
        assert.match(stdout + stderr, new RegExp(`demo/pool-a belongs to the stack ${owner} \\(`));
      }
    };
    const changing = ["up", "--yes", "--skip-preview"];
    other.configure(poolConfiguration({ replicas: 1, adopt: true }));
    await refuses(other, "organization/foresail/test", [["preview"], changing]);
    await other.destroy();
    assert.equal((await nodes()).length, 1);

    other.configure(poolConfiguration({ replicas: 1, takeOver: id }));
    const steps = (await other.preview()).flatMap(({ inputs }) => (inputs["steps"] ?? []) as string[]);
    assert.deepEqual(
      steps.filter((step) => step.startsWith("take ")),
      Array<string>(3).fill(`take it over from organization/foresail/test (${id})`),
    );
    await other.up();
    assert.deepEqual(await other.preview(), []);
    const refreshing = ["refresh", "--yes", "--skip-preview"];
    await refuses(stack, "organization/foresail/other", [["preview"], changing, refreshing]);
    await stack.destroy();
    assert.equal((await nodes()).length, 1);
    await other.destroy();
    assert.deepEqual([await pool(), await nodes()], [undefined, []]);
  });
});

/** Returns the identity of a stack. */
async function identityOf(stack: TestStack): Promise<string> {
  const { resources = [] } = (await stack.export()).deployment;
  const found = resources.find(({ type }) => type.endsWith(":StackIdentity")) as { id?: string } | undefined;
  return found?.id ?? "";
}
