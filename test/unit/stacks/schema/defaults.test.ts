import assert from "node:assert/strict";
import { ClusterInput, loadConfiguration } from "../../../../stacks/schema";
import { cluster, reader } from "./valid";

describe("configuration: defaults", () => {
  it("completes the smallest cluster", () => {
    const complete = ClusterInput.parse(cluster());
    assert.deepEqual(complete.source, { packages: {} });
    assert.deepEqual(complete.endpoint, { loopback: {} });
    assert.deepEqual(complete.network, {
      podSubnet: "10.244.0.0/16",
      serviceSubnet: "10.96.0.0/12",
      dnsDomain: "cluster.local",
      plugin: { flannel: { values: {} } },
    });
    assert.deepEqual(complete.drain, {
      timeoutSeconds: 300,
      volumeDetachSeconds: 300,
      deleteEmptyDirData: false,
      force: false,
    });
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

  it("defaults to the system ssh", () => {
    assert.equal(loadConfiguration(reader(cluster())).system, "ssh");
  });
});
