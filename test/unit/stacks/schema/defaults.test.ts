import assert from "node:assert/strict";
import { ClusterConfiguration, loadConfiguration } from "../../../../stacks/schema";
import { loadBalancer } from "../../../../stacks/ssh";
import { cluster, controlPlane, reader, worker } from "./valid";

describe("configuration: defaults", () => {
  it("completes the smallest cluster", () => {
    const complete = ClusterConfiguration.parse(cluster());
    assert.deepEqual(complete.source, { packages: {} });
    assert.deepEqual(complete.endpoint, { loopback: { port: 8443 } });
    assert.deepEqual(complete.network, {
      podSubnet: "10.244.0.0/16",
      serviceSubnet: "10.96.0.0/12",
      dnsDomain: "cluster.local",
      plugin: { flannel: { values: {} } },
    });
    assert.deepEqual(complete.drain, { timeoutSeconds: 300, deleteEmptyDirData: false, force: false });
    assert.deepEqual(complete.timeouts, {
      sshSeconds: 300,
      prepareSeconds: 900,
      initSeconds: 600,
      joinSeconds: 600,
      readySeconds: 600,
    });
    assert.equal(complete.encryptSecretsAtRest, true);
    assert.equal(complete.allowEvenControlPlanes, false);
  });

  it("completes a control plane and a worker from their addresses", () => {
    const [first, second] = ClusterConfiguration.parse(cluster()).machines;
    const common = { port: 22, user: "root", labels: {}, taints: [] };
    assert.deepEqual(first, {
      ...common,
      ...controlPlane(),
      internalAddress: "192.0.2.11",
      apiServer: "192.0.2.11:6443",
    });
    assert.deepEqual(second, { ...common, ...worker(), internalAddress: "192.0.2.21", pool: "workers" });
  });

  it("names a load balancer in the kubeconfig, unless control planes are reached in another way", () => {
    const external = { endpoint: { external: { host: "lb.example.com", port: 443 } } };
    const cases: [Record<string, unknown>, string | undefined][] = [
      [{}, undefined],
      [external, "lb.example.com:443"],
      [{ ...external, machines: [controlPlane({ apiServer: "192.0.2.99:16443" }), worker()] }, undefined],
    ];
    for (const [fields, expected] of cases)
      assert.equal(loadBalancer(ClusterConfiguration.parse(cluster(fields))), expected);
  });

  it("takes user and port from cluster.ssh, unless the machine sets its own", () => {
    const machines = [controlPlane(), worker({ user: "other", port: 2022 })];
    const complete = ClusterConfiguration.parse(cluster({ machines, ssh: { user: "ops", port: 222 } }));
    assert.deepEqual(
      complete.machines.map(({ user, port }) => [user, port]),
      [
        ["ops", 222],
        ["other", 2022],
      ],
    );
  });

  it("defaults to the system ssh", () => {
    assert.equal(loadConfiguration(reader(cluster())).system, "ssh");
  });
});
