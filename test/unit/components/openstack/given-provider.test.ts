import assert from "node:assert/strict";
import { waitFor } from "../../../../lib/wait";
import { MockedCluster } from "./mocked-cluster";

describe("a provider given to an OpenstackCluster, in a preview", () => {
  const cluster = new MockedCluster();

  before(function () {
    this.timeout(60_000);
    return cluster.start(true);
  });

  after(() => cluster.start());

  it("hides nothing that it says about its cloud, though what it leaves open is unknown", async function () {
    this.timeout(30_000);
    const { Provider } = await import("@pulumi/openstack");
    cluster.begin({ providers: [new Provider("mine", { cloud: "eu2", tenantName: "web" })] });
    const inputs = await waitFor<Record<string, unknown>>({
      what: "the cloud's plan",
      seconds: 20,
      probe: () => {
        const [plan] = cluster.of("CloudPlan");
        return Promise.resolve(
          plan && "cluster" in plan.inputs ? { done: plan.inputs } : { pending: "none" },
        );
      },
    });
    const { cloud, tenantName, authUrl } = inputs.givenProvider as Record<string, unknown>;
    assert.deepEqual([cloud, tenantName], ["eu2", "web"]);
    // mocks pass an unknown value as one that nothing equals
    assert.notEqual(authUrl, undefined);
  });
});
