import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";

describe("a provider of Kubernetes given to a component of a management cluster", () => {
  before(() =>
    pulumi.runtime.setMocks({
      call: () => ({}),
      newResource: ({ name, inputs }) => ({ id: `${name}-id`, state: inputs as object }),
    }),
  );

  it("is refused, since the component would change the cluster of its kubeconfig", async () => {
    const { Provider } = await import("@pulumi/kubernetes");
    const { MachinePool } = await import("../../../package/machine-pool.js");
    const azimuth = await import("../../../package/azimuth.js");
    const provider = new Provider("mine");
    const args = {
      ...{
        kubeconfig: "x",
        namespace: "az-demo",
        cluster: "demo",
        replicas: 1,
        version: "1.36.3",
        nodeGroups: [],
      },
      ...{ bootstrap: { dataSecretName: "x" }, infrastructure: { apiVersion: "a/v1", kind: "K" } },
    };
    const clusterArgs = { ...args, cluster: { nodeGroups: [], addons: {}, label: "Demo" } };
    const zenith = { registrarAdminUrl: "http://registrar", sshdHost: "z.example.com", sshdPort: 22 };
    const tunnelArgs = {
      ...{ ...args, zenith: { ...zenith, projectId: "1" }, projectId: "1" },
      owner: { apiVersion: "v1", kind: "ConfigMap", name: "demo", uid: "u" },
    };
    const refusal = /provider: is not used: the management cluster is that of `kubeconfig`/;
    const { AzimuthCluster, Lease, OidcClient, Platform, Realm, ZenithApiServer, ZenithOperator } = azimuth;
    const components = [
      ...[MachinePool, Lease, OidcClient, Platform, Realm].map((Component) => [Component, args] as const),
      [AzimuthCluster, clusterArgs] as const,
      ...[ZenithApiServer, ZenithOperator].map((Component) => [Component, tunnelArgs] as const),
    ];
    for (const [Component, its] of components)
      for (const options of [
        { provider },
        { providers: [provider] },
        { providers: { kubernetes: provider } },
      ])
        assert.throws(() => new Component("demo", its as never, options), refusal);
  });
});
