import assert from "node:assert/strict";
import { exampleMachine } from "../unit/providers/kubeadm/machine/examples";
import { controlPlanes, machines, SAMPLES } from "./handler-samples";
import { keptOf, type ProviderHost } from "./provider-host";
import { ServedHost } from "./served-host";

describe("LoopbackEndpoint, in Pulumi's own process", function () {
  this.timeout(60_000);
  const served = new ServedHost();
  let host: ProviderHost;
  before(() => {
    host = served.host;
  });

  const key = "kubeadm/LoopbackEndpoint";
  const olds = SAMPLES[key];

  it("rewrites every machine when the control planes change, and none for another worker", async () => {
    const fewer = { ...olds, machines: [machines[0], machines[3]] };
    const { inputs } = await host.check(key, fewer, olds);
    assert.deepEqual(
      inputs.steps,
      machines.map(({ name }) => `${name}: put cp-1, cp-2, cp-3 behind 127.0.0.1`),
    );
    assert.equal((await host.diff(key, fewer, inputs)).changes, true);
    const worker = { ...olds, machines: [...machines, exampleMachine("w-2")] };
    const none = await host.check(key, olds, worker);
    assert.deepEqual(none.inputs.steps, []);
    assert.equal((await host.diff(key, olds, none.inputs)).changes, false);
  });

  it("records no workers, so that another one changes nothing in the state", async () => {
    const first = await host.check(key, {}, olds);
    const worker = { ...olds, machines: [...machines, exampleMachine("w-2")] };
    const after = await host.check(key, first.inputs, worker);
    assert.deepEqual([first.inputs.machines, after.inputs], [controlPlanes, first.inputs]);
    const { outputs } = await host.create(key, first.inputs);
    assert.deepEqual(outputs.machines, controlPlanes);
    // and the run after that still reaches every machine when the control planes change
    const fewer = { ...worker, machines: worker.machines.filter(({ name }) => name !== "cp-3") };
    const rewrite = await host.check(key, after.inputs, fewer);
    assert.deepEqual(
      rewrite.inputs.steps,
      fewer.machines.map(({ name }) => `${name}: put cp-1, cp-2 behind 127.0.0.1`),
    );
    assert.equal((await host.diff(key, outputs, rewrite.inputs)).changes, true);
  });

  it("keeps the record when a machine can't be reached, so that the next preview lists every rewrite again", async () => {
    const closed = machines.map((machine) => ({ ...machine, address: "127.0.0.1", port: 1 }));
    const fewer = { ...olds, machines: [closed[0], closed[3]] };
    const failure: unknown = await host
      .update(key, fewer, { ...olds, machines: closed })
      .catch((error: unknown) => error);
    assert.match(String(failure), /LoopbackEndpoint demo: rewrite failed/);
    assert.equal(keptOf(failure), undefined);
  });

  it("does nothing on the first run, since each machine's preparation wrote the same", async () => {
    assert.equal((await host.create(key, olds)).id, "demo");
  });
});
