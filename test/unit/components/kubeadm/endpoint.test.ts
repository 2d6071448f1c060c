import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { endpointOf } from "../../../../components/kubeadm/endpoint";
import { checkedCluster } from "../../../../components/kubeadm/validation";
import type { EndpointArgs } from "../../../../components/kubeadm/kubeadm-cluster-args";
import type { StateResources } from "../../../../lib/pulumi/state";

const INIT = "pulumi-nodejs:dynamic/foresail:ClusterInit";
const CLUSTER: StateResources = {
  [`urn:pulumi:test::demo::${INIT}::prod-init`]: {
    type: INIT,
    outputs: { specification: { endpoint: { loopback: { port: 8443 } } } },
  },
};

describe("the endpoint of a KubeadmCluster", () => {
  let state: StateResources;
  let reads: number;

  before(() =>
    pulumi.runtime.setMocks({
      call: () => {
        reads++;
        return { outputs: state };
      },
      newResource: ({ name, inputs }) => ({ id: name, state: inputs as object }),
    }),
  );
  beforeEach(() => {
    [state, reads] = [{}, 0];
  });

  const endpoint = (given?: EndpointArgs, port = 22) => {
    const machine = { name: "cp-1", role: "control-plane" as const, address: "192.0.2.11", port };
    const args = { version: "1.36.3", machines: [machine], ...(given && { endpoint: given }) };
    const output = endpointOf("prod", checkedCluster("prod", args)) as unknown as {
      promise(): Promise<unknown>;
    };
    return output.promise();
  };

  it("has the new default in a new stack, and the recorded port in that of a cluster", async () => {
    assert.deepEqual(await endpoint(), { loopback: { port: 7445 } });
    state = CLUSTER;
    assert.deepEqual(await endpoint({ loopback: {} }), { loopback: { port: 8443 } });
  });

  it("is the one that the arguments name, for which the state is not read", async () => {
    state = CLUSTER;
    for (const given of [{ loopback: { port: 9001 } }, { external: { host: "192.0.2.9", port: 443 } }])
      assert.deepEqual(await endpoint(given), given);
    assert.equal(reads, 0);
  });

  it("refuses a default at which SSH listens; an existing cluster has another port", async () => {
    await assert.rejects(endpoint(undefined, 7445), /7445 is the port of SSH on cp-1; choose another/);
    state = CLUSTER;
    assert.deepEqual(await endpoint(undefined, 7445), { loopback: { port: 8443 } });
  });
});
