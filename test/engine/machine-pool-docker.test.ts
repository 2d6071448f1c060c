import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { CLUSTER } from "../simulation/capi-fixture";
import { machinePoolFixture, poolConfiguration, timeoutsOf } from "./machine-pool-fixture";

const API = "cluster.x-k8s.io/v1beta2";
const WAIT = "pool-a: wait until every node is Ready";
const KIND = "DockerMachinePool";
const REGISTRY = "registry.example.com";
const PULL_MILLISECONDS = 5000;
const image = (tag: string) => `${REGISTRY}/node:v1.36.3-${tag}`;

describe("a MachinePool of Cluster API's own provider for Docker, through the engine", function () {
  this.timeout(180_000);
  const fixture = machinePoolFixture({
    clusterApi: "cluster-api-newer",
    docker: {
      // the provider's objects say nothing about the change until it has made a container
      pull: async (name) => {
        if (name === image("b")) await pause(PULL_MILLISECONDS);
        return name.includes("absent") ? `manifest for ${name} not found: manifest unknown` : undefined;
      },
      join: (name) =>
        name.includes("old-kubeadm") ? "error execution phase preflight: no such token" : undefined,
    },
  });
  const configure = (customImage: string, fields: Record<string, unknown> = {}) =>
    fixture.stack.configure(
      poolConfiguration(
        { api: "v1beta2", replicas: 2, version: "1.36.3", ...fields },
        {
          apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
          kind: KIND,
          spec: { template: { customImage } },
        },
      ),
    );
  const stepsOf = async () =>
    (await fixture.stack.preview()).find(({ name }) => name === "pool-a-ready")?.inputs["steps"];
  const up = () => fixture.stack.call(["up", "--yes", "--skip-preview"]);
  const images = () => fixture.capi.docker?.engine.machines.map((machine) => machine.image).sort();
  const nodes = async () =>
    (await fixture.capi.kubernetes.listNodes()).map(({ metadata }) => metadata?.name ?? "").sort();
  const logOf = (program: string) => fixture.capi.api.log(program).split("\n").slice(-40).join("\n");
  const succeeds = async () => {
    const { exitCode, stdout, stderr } = await up();
    assert.equal(exitCode, 0, [stdout, stderr, logOf("docker-provider")].join("\n"));
    return stdout;
  };
  const fails = async () => {
    const { exitCode, stdout, stderr } = await up();
    assert.notEqual(exitCode, 0, "it should have failed");
    return stdout + stderr;
  };

  it("makes its machines, and the next preview is empty", async () => {
    configure(image("a"));
    await succeeds();
    assert.deepEqual(images(), [image("a"), image("a")]);
    assert.equal((await nodes()).length, 2);
    assert.deepEqual(await fixture.stack.preview(), []);
  });

  it("follows the roll to another image until every machine of the earlier one is gone", async () => {
    const before = await nodes();
    configure(image("b"));
    assert.deepEqual(await stepsOf(), ["pool-a: roll all 2 nodes, made from another template", WAIT]);
    await succeeds();
    assert.deepEqual(images(), [image("b"), image("b")]);
    const made = await nodes();
    assert.equal(made.length, 2);
    assert.deepEqual(
      made.filter((name) => before.includes(name)),
      [],
    );
    assert.deepEqual(await fixture.stack.preview(), []);
  });

  it("names the provider's log, since its objects have no reason, when no machine of the new image can be made", async () => {
    configure(image("absent"), { timeouts: timeoutsOf(60, { infrastructureSeconds: 6 }) });
    const words = await fails();
    assert.match(words, /2 of 2 machines to be replaced.*in the provider's log; .*inPlaceFields/);
    assert.match(fixture.capi.api.log("docker-provider"), /manifest unknown/);
    const [step = ""] = (await stepsOf()) as string[];
    assert.equal(step, "pool-a: roll all 2 nodes, made from another template");
    assert.deepEqual(images(), [image("b"), image("b")]);
  });

  it("fails with the provider's words when the machines of the new image can't join, and says so in the preview", async () => {
    configure(image("old-kubeadm"), { timeouts: timeoutsOf(12) });
    const words = await fails();
    assert.match(
      words,
      /DockerMachine worker-\w+: Ready is False \(NotReady: \* BootstrapCompleted: .*kubeadm join.*no such token/,
    );
    const [step = ""] = (await stepsOf()) as string[];
    assert.match(step, /pool-a: (roll all 2 nodes|phase \w+, waits for)/);
  });

  it("replaces machines that never joined when the image is repaired", async () => {
    configure(image("c"));
    await succeeds();
    assert.deepEqual(images(), [image("c"), image("c")]);
    assert.deepEqual(await fixture.stack.preview(), []);
  });

  it("is destroyed with its machines", async () => {
    await fixture.stack.destroy();
    assert.deepEqual(images(), []);
    assert.equal(await fixture.capi.get(API, "MachinePool", "pool-a"), undefined);
    assert.equal(
      (await fixture.capi.kubernetes.list({ apiVersion: API, kind: "Machine", namespace: CLUSTER.namespace }))
        .length,
      0,
    );
  });
});
