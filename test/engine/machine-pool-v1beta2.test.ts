import assert from "node:assert/strict";
import { FAULT, INFRASTRUCTURE_API, POOL_KIND, SANDBOX_KINDS } from "../../sandbox/capi/kinds";
import { leaveOut } from "../left-out";
import {
  machinePoolFixture,
  poolConfiguration,
  type PoolObject,
  upWhileProvidersAreAway,
  timeoutsOf,
} from "./machine-pool-fixture";

type Fields = Record<string, unknown>;

const ALL_TESTS = process.env.FORESAIL_TEST_ALL === "1";
const API = "cluster.x-k8s.io/v1beta2";
const WAIT = "pool-a: wait until every node is Ready";

/** What Cluster API 1.11 writes of a pool. */
interface NewerPool extends PoolObject {
  status?: PoolObject["status"] & {
    initialization?: Fields;
    readyReplicas?: number;
    deprecated?: { v1beta1?: Fields };
  };
}

describe("a MachinePool of v1beta2", function () {
  this.timeout(180_000);

  before(function () {
    if (!ALL_TESTS)
      leaveOut(
        this,
        "by default pools are of v1beta1, on Cluster API 1.7; FORESAIL_TEST_ALL=1 includes v1beta2",
      );
  });

  describe("through the engine, with the manager of Cluster API 1.14.2", () => {
    const fixture = machinePoolFixture({ milliseconds: 150, clusterApi: "cluster-api-newer" });
    const pool = () => fixture.capi.get<NewerPool>(API, "MachinePool", "pool-a");
    const nodes = async () =>
      (await fixture.capi.kubernetes.listNodes()).map(({ metadata }) => metadata?.name ?? "");
    const configure = (fields: Fields, infrastructure: Fields = {}, config: Fields = {}) =>
      fixture.stack.configure(poolConfiguration({ api: "v1beta2", ...fields }, infrastructure, config));
    const flavor = (name: string) => ({ spec: { template: { flavor: name } } });
    const asked = (fault: string) => ({ annotations: { [FAULT]: fault } });
    const stepsOf = async () => {
      const steps = await fixture.stack.preview();
      return steps.find(({ name }) => name === "pool-a-ready")?.inputs["steps"];
    };
    const call = () => fixture.stack.call(["up", "--yes", "--skip-preview"]);
    /** Runs `up`, which has to succeed. @returns what it said */
    const up = async () => {
      const { exitCode, stdout, stderr } = await call();
      assert.equal(exitCode, 0, [stdout, stderr, ...fixture.capi.complaints].join("\n"));
      return stdout;
    };
    const failingUp = async () => {
      const { exitCode, stdout, stderr } = await call();
      assert.notEqual(exitCode, 0, "it should have failed");
      return stdout + stderr;
    };

    it("scales from 0 to 2, 3 and 1 nodes as the previews say, and the next preview is empty", async () => {
      configure({ replicas: 0 });
      assert.deepEqual(await stepsOf(), ["pool-a: make a pool of 0 nodes", WAIT]);
      await up();
      for (const [replicas, step] of [
        [2, "pool-a: scale 0 → 2, 2 nodes more"],
        [3, "pool-a: scale 2 → 3, 1 node more"],
        [1, "pool-a: scale 3 → 1, 2 nodes less"],
      ] as const) {
        configure({ replicas });
        assert.deepEqual(await stepsOf(), [step, WAIT]);
        await up();
        assert.equal((await nodes()).length, replicas);
        assert.deepEqual(await fixture.stack.preview(), []);
      }
      const { status } = (await pool())!;
      assert.equal(status?.phase, "Running");
      assert.deepEqual(status?.initialization, {
        bootstrapDataSecretCreated: true,
        infrastructureProvisioned: true,
      });
    });

    it("counts nodes that are Ready, where the newer counts include every machine", async () => {
      const timeouts = timeoutsOf(60, { nodesSeconds: 3 });
      configure({ replicas: 2, timeouts }, asked("not-ready"));
      assert.match(await failingUp(), /waits for 2 nodes, 2 have registered, 1 are ready/);
      assert.equal((await pool())?.status?.readyReplicas, 2);
      configure({ replicas: 1 });
      await up();
    });

    it("waits until its nodes have been Ready for minReadySeconds", async () => {
      configure({ replicas: 2, minReadySeconds: 3 });
      assert.match(await up(), /every node is Ready, and has to be for [123] s more \(minReadySeconds\)/);
      assert.deepEqual(await fixture.stack.preview(), []);
      configure({ replicas: 2 });
      await up();
    });

    it("is rolled to another template, and up ends when every node is created from it", async () => {
      const before = await nodes();
      configure({ replicas: 2 }, flavor("large"));
      assert.deepEqual(await stepsOf(), ["pool-a: roll all 2 nodes, made from another template", WAIT]);
      await upWhileProvidersAreAway(fixture);
      const made = await nodes();
      assert.equal(made.length, 2);
      assert.deepEqual(
        made.filter((name) => before.includes(name)),
        [],
      );
      assert.deepEqual(await fixture.stack.preview(), []);
    });

    it("shows a node that fails after the pool was Running", async () => {
      const [name = ""] = await nodes();
      const ready = (status: string) =>
        fixture.capi.kubernetes.mergePatch(
          { apiVersion: "v1", kind: "Node", name },
          { status: { conditions: [{ type: "Ready", status, reason: "Told", message: "" }] } },
          { subresource: "status" },
        );
      await ready("Unknown");
      assert.deepEqual(await stepsOf(), [
        `pool-a: phase Running, waits for node ${name} is not Ready (Ready is Unknown, Told)`,
      ]);
      await ready("True");
      assert.deepEqual(await fixture.stack.preview(), []);
    });

    it("shows a failure after the pool was Running, on which the controller crashes", async () => {
      await fixture.capi.kubernetes.mergePatch(
        { apiVersion: INFRASTRUCTURE_API, kind: POOL_KIND, namespace: "demo", name: "pool-a" },
        { metadata: asked("failed") },
      );
      await fixture.capi.kubernetes.watchUntil<true, NewerPool>({
        what: "the controller to lose what it knew",
        apiVersion: API,
        kind: "MachinePool",
        namespace: "demo",
        name: "pool-a",
        seconds: 20,
        decide: ([object]) =>
          object?.status?.deprecated?.v1beta1 === undefined ? { done: true } : { pending: "it knows" },
      });
      assert.deepEqual(await stepsOf(), [
        "pool-a: failed: its controllers have given it up: SandboxMachinePool pool-a: CreateError: the cloud has no such flavor",
      ]);
    });

    it("is destroyed with its nodes", async () => {
      await fixture.stack.destroy();
      assert.deepEqual([await pool(), await nodes()], [undefined, []]);
    });

    it("names phase and condition while the join data is missing, and continues when it arrives", async () => {
      const timeouts = timeoutsOf(60, { bootstrapSeconds: 10 });
      configure({ replicas: 1, timeouts }, {}, asked("never-ready"));
      assert.match(
        await failingUp(),
        /waited 10 s for MachinePool demo\/pool-a \(bootstrap\); last seen: phase Pending, waits for bootstrap data, BootstrapReady is False \(DataNotMade: asked to make no data\)/,
      );
      configure({ replicas: 1, timeouts });
      await up();
      await fixture.stack.destroy();
    });

    it("fails at once when the infrastructure has failed, although the pool reports nothing", async () => {
      configure({ replicas: 1 }, asked("failed"));
      const began = Date.now();
      assert.match(await failingUp(), /SandboxMachinePool pool-a: CreateError: the cloud has no such flavor/);
      assert.ok(Date.now() - began < 20_000, "it should not have waited for a deadline");
      assert.equal((await pool())?.status?.deprecated?.v1beta1?.["failureReason"], undefined);
      await fixture.stack.destroy();
    });

    it("keeps the pool and its nodes when a stack that wrote v1beta1 writes v1beta2", async () => {
      configure({ api: "v1beta1", replicas: 2, minReadySeconds: 1 });
      await up();
      assert.deepEqual(await fixture.stack.preview(), []);
      const [uid, before] = [(await pool())?.metadata.uid, await nodes()];
      configure({ replicas: 2, minReadySeconds: 1 });
      assert.deepEqual(await stepsOf(), []);
      await up();
      assert.deepEqual([(await pool())?.metadata.uid, await nodes()], [uid, before]);
      assert.deepEqual(await fixture.stack.preview(), []);
      await fixture.stack.destroy();
      assert.deepEqual([await pool(), await nodes()], [undefined, []]);
    });

    it("adopts a pool that others wrote as v1beta1, whose references the server gives as v1beta2", async () => {
      const { kubernetes } = fixture.capi;
      const metadata = { name: "pool-a", namespace: "demo" };
      const own = [SANDBOX_KINDS.config, SANDBOX_KINDS.pool];
      for (const { apiVersion, plural } of own) {
        const name = `${plural}.${apiVersion.split("/")[0]}`;
        const ref = { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", name };
        const [version] = (await kubernetes.get<{ spec: { versions: Fields[] } }>(ref))!.spec.versions;
        const versions = [version, { ...version, name: "v1beta2", storage: false }];
        await kubernetes.mergePatch(ref, {
          metadata: { labels: { "cluster.x-k8s.io/v1beta2": "v1beta2" } },
          spec: { versions },
        });
      }
      const [configRef, infrastructureRef] = own.map(({ apiVersion, kind }) => ({
        apiVersion,
        kind,
        ...metadata,
      }));
      const template = {
        clusterName: "demo",
        version: "v1.29.4",
        bootstrap: { configRef },
        infrastructureRef,
      };
      const spec = { clusterName: "demo", replicas: 1, template: { spec: template } };
      const flavors = [{}, { template: { flavor: "small" } }];
      const objects = [
        ...own.map(({ apiVersion, kind }, index) => ({ apiVersion, kind, metadata, spec: flavors[index] })),
        { apiVersion: "cluster.x-k8s.io/v1beta1", kind: "MachinePool", metadata, spec },
      ];
      for (const object of objects) await kubernetes.apply(object, { fieldManager: "kubectl" });
      configure({ api: "v1beta1", replicas: 1 });
      await up();
      const read = await fixture.capi.get<{ spec: typeof spec }>(
        "cluster.x-k8s.io/v1beta1",
        "MachinePool",
        "pool-a",
      );
      assert.match(read?.spec.template.spec.infrastructureRef?.apiVersion ?? "", /v1beta2$/);
      assert.deepEqual(await fixture.stack.preview(), []);
      await fixture.stack.destroy();
      for (const { apiVersion, kind } of [...objects].reverse())
        await kubernetes.delete({ apiVersion, kind, ...metadata });
    });
  });
});
