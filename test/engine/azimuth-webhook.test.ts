import assert from "node:assert/strict";
import { API } from "../../providers/azimuth/plan/names";
import { createReporter } from "../../sandbox/progress";
import { ensureToolchain } from "../../sandbox/toolchain";
import { useClusterApiWebhooks } from "../simulation/cluster-api-webhooks";
import { azimuthFixture, configure, liveObjects } from "./azimuth-fixture";

interface Reference {
  apiVersion: string;
  kind: string;
  name: string;
}

interface Deployment {
  spec: {
    strategy: { type: string };
    template: { spec: { bootstrap: { configRef: Reference }; infrastructureRef: Reference } };
  };
}

describe("a cluster through Azimuth, whose objects Cluster API's own webhooks check", function () {
  this.timeout(300_000);
  const fixture = azimuthFixture();
  const { get } = liveObjects(fixture);

  before(async () => {
    const toolchain = await ensureToolchain({ programs: ["cluster-api"] }, createReporter());
    await useClusterApiWebhooks(fixture.api, fixture.management, toolchain.program("cluster-api"));
  });

  it("comes up with the defaults that the webhooks write, and the next preview is empty", async () => {
    configure(fixture);
    await fixture.stack.up();
    const cluster = await get(API.clusterApi, "Cluster", "demo");
    const { infrastructureRef } = cluster?.spec as { infrastructureRef: { namespace?: string } };
    assert.equal(infrastructureRef.namespace, "az-demo");
    const deployments = await fixture.management.list<Deployment>({
      apiVersion: API.clusterApi,
      kind: "MachineDeployment",
      namespace: "az-demo",
    });
    assert.ok(deployments.length > 0);
    for (const { spec } of deployments) {
      assert.equal(spec.strategy.type, "RollingUpdate");
      const { bootstrap, infrastructureRef: machines } = spec.template.spec;
      for (const { apiVersion, kind, name } of [bootstrap.configRef, machines])
        assert.ok(await get(apiVersion, kind, name), `${kind} ${name}`);
    }
    assert.deepEqual(await fixture.stack.preview(), []);
  });

  it("is destroyed", async () => {
    await fixture.stack.destroy();
    assert.equal(await get(API.clusterApi, "Cluster", "demo"), undefined);
  });
});
