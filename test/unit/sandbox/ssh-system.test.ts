import assert from "node:assert/strict";
import { containerNodeSettings } from "../../../sandbox/nodes/container-node-settings";
import { clusterConfiguration, findLost } from "../../../sandbox/systems/ssh-configuration";
import { chooseSize, planMachines } from "../../../sandbox/systems/cluster-size";
import { ClusterInput } from "../../../stacks/schema";
import { withConfiguration } from "../../../sandbox/systems/stack-file";

/** A real public key, as the schema reads it. */
const hostKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFuk87thBdNHisNjYKqZkOTj/71fIbwkhIm3DFyUv/s7";

const node = (name: string, sshPort: number, apiPort: number) => ({
  name,
  container: `foresail-${name}`,
  address: "127.0.0.1",
  sshPort,
  apiPort,
  internalAddress: `10.89.0.${sshPort % 100}`,
  hostKey,
  user: "operator",
  running: true,
});

describe("the size of the sandbox's cluster", () => {
  it("is one control plane and one worker at first", () => {
    assert.deepEqual(chooseSize({}, undefined), { controlPlanes: 1, workers: 1 });
  });
  it("stays as it was without a request", () => {
    assert.deepEqual(chooseSize({}, { controlPlanes: 3, workers: 2 }), { controlPlanes: 3, workers: 2 });
  });
  it("changes only where requested", () => {
    assert.deepEqual(chooseSize({ workers: 4 }, { controlPlanes: 3, workers: 2 }), {
      controlPlanes: 3,
      workers: 4,
    });
  });
  it("names machines so that a smaller cluster's machines are the first of a larger one's", () => {
    const names = (controlPlanes: number, workers: number) =>
      planMachines({ controlPlanes, workers }).map((machine) => machine.name);
    assert.deepEqual(names(1, 2), ["cp-1", "w-1", "w-2"]);
    assert.deepEqual(
      names(1, 1).filter((name) => !names(3, 2).includes(name)),
      [],
    );
  });
});

describe("the configuration of the sandbox's cluster", () => {
  const fixture = {
    machines: [
      { name: "cp-1", role: "control-plane" as const, node: node("cp-1", 2201, 6401) },
      { name: "w-1", role: "worker" as const, node: node("w-1", 2202, 6402) },
    ],
    lost: [],
    privateKey: "PRIVATE",
  };

  it("reaches machines and the API at their published ports, and has machines reach each other inside", () => {
    const { machines } = clusterConfiguration(fixture, {});
    assert.deepEqual(machines, [
      {
        name: "cp-1",
        role: "control-plane",
        address: "127.0.0.1",
        port: 2201,
        user: "operator",
        hostKey,
        internalAddress: "10.89.0.1",
        apiServer: "127.0.0.1:6401",
      },
      {
        name: "w-1",
        role: "worker",
        address: "127.0.0.1",
        port: 2202,
        user: "operator",
        hostKey,
        internalAddress: "10.89.0.2",
      },
    ]);
  });

  it("is accepted by the stack", () => {
    const made = clusterConfiguration({ ...fixture, lost: ["w-2"] }, containerNodeSettings);
    assert.deepEqual(ClusterInput.safeParse(made).error?.issues ?? [], []);
  });

  it("never contains the private key", () => {
    assert.ok(!JSON.stringify(clusterConfiguration(fixture, {})).includes("PRIVATE"));
  });

  it("includes what container nodes need, beside its own network", () => {
    const made = clusterConfiguration(fixture, {
      kubelet: { failSwapOn: false },
      network: { podSubnet: "10.1.0.0/16" },
    });
    assert.deepEqual(made["kubelet"], { failSwapOn: false });
    assert.deepEqual(made["network"], { plugin: { bridge: {} }, podSubnet: "10.1.0.0/16" });
  });

  it("lists a machine as lost only when it leaves and does not run", () => {
    assert.deepEqual(findLost(["cp-1", "w-1", "w-2"], ["cp-1", "w-1"], ["cp-1", "w-1", "w-2"]), []);
    assert.deepEqual(findLost(["cp-1", "w-1", "w-2"], ["cp-1", "w-1"], ["cp-1"]), ["w-2"]);
    assert.equal("lost" in clusterConfiguration(fixture, {}), false);
    assert.deepEqual(clusterConfiguration({ ...fixture, lost: ["w-2"] }, {})["lost"], ["w-2"]);
  });
});

describe("a generated stack file", () => {
  it("keeps the engine's salt and encrypted secrets that are still needed, and nothing else", () => {
    const current = {
      encryptionsalt: "v1:salt",
      config: {
        "foresail:sshPrivateKey": { secure: "v1:abc" },
        "foresail:old": "gone",
        "foresail:system": "other",
      },
    };
    assert.deepEqual(
      withConfiguration(current, { values: { system: "ssh" }, secrets: { sshPrivateKey: "PRIVATE" } }),
      {
        encryptionsalt: "v1:salt",
        config: { "foresail:system": "ssh", "foresail:sshPrivateKey": { secure: "v1:abc" } },
      },
    );
  });

  it("never contains a secret in plain text", () => {
    const made = withConfiguration(undefined, { values: {}, secrets: { sshPrivateKey: "PRIVATE" } });
    assert.deepEqual(made, { config: {} });
  });
});
