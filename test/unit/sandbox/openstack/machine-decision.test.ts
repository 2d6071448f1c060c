import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { renderConsole } from "../../../../sandbox/openstack/machines/console";
import {
  decide,
  floatingIpOf,
  type ContainerState,
  type MachineAction,
  type MachineAnswer,
  type MachineRequest,
} from "../../../../sandbox/openstack/machines/decision";

const address = { mac: "fa:16:3e:00:00:01", network: "n", cidr: "10.0.0.0/24", gateway: "10.0.0.1" };
const request = (power: "on" | "off", boot: number): MachineRequest => ({
  name: "w-1",
  hostname: "w-1",
  power,
  boot,
  addresses: [
    { ...address, port: "p-1", address: "10.0.0.5" },
    { ...address, port: "p-2", address: "10.0.0.6" },
  ],
  key: null,
});
const answer = (state: MachineAnswer["state"], boot: number): MachineAnswer => ({ state, boot, message: "" });

describe("the action for a server", () => {
  const cases: [
    string,
    MachineRequest | undefined,
    ContainerState,
    MachineAnswer | undefined,
    MachineAction,
  ][] = [
    ["asked for", request("on", 1), "none", undefined, "create"],
    ["made, and nova not told", request("on", 1), "running", undefined, "answer"],
    ["running", request("on", 1), "running", answer("running", 1), "nothing"],
    ["whose container is gone", request("on", 1), "none", answer("running", 1), "create"],
    ["after the cloud was stopped", request("on", 1), "stopped", answer("running", 1), "start"],
    ["to be rebooted", request("on", 2), "running", answer("running", 1), "restart"],
    ["to be shut off", request("off", 1), "running", answer("running", 1), "stop"],
    ["shut off, and nova not told", request("off", 1), "stopped", answer("running", 1), "answer"],
    ["shut off", request("off", 1), "stopped", answer("stopped", 1), "nothing"],
    ["to be started again", request("on", 2), "stopped", answer("stopped", 1), "start"],
    ["started again, and nova not told", request("on", 2), "running", answer("stopped", 1), "answer"],
    ["that failed", request("on", 1), "none", answer("failed", 1), "nothing"],
    ["that failed and is asked for again", request("on", 2), "none", answer("failed", 1), "create"],
    ["deleted while it runs", undefined, "running", answer("running", 1), "remove"],
    ["deleted before it was made", undefined, "none", undefined, "remove"],
  ];
  for (const [what, wanted, container, told, action] of cases) {
    it(`${what}: ${action}`, () => assert.equal(decide(wanted, container, told), action));
  }

  it("is idle once it is executed and acknowledged", () => {
    for (const [, wanted, container, told] of cases) {
      const action = decide(wanted, container, told);
      if (wanted === undefined || action === "nothing") continue;
      const state = wanted.power === "on" ? "running" : "stopped";
      assert.equal(decide(wanted, state, { state, boot: wanted.boot, message: "" }), "nothing");
    }
  });
});

describe("floating IPs", () => {
  it("belong to the server that has their port; the first of several counts", () => {
    const at = (address: string, port: string) => ({ address, port });
    assert.equal(floatingIpOf(request("on", 1), [at("10.77.0.12", "other")]), undefined);
    assert.equal(
      floatingIpOf(request("on", 1), [
        at("10.77.0.13", "p-2"),
        at("10.77.0.12", "p-1"),
        at("10.77.0.11", "x"),
      ]),
      "10.77.0.12",
    );
  });
});

describe("a server's console", () => {
  it("shows the host key and its fingerprint as cloud-init does", () => {
    const blob = Buffer.from("key");
    const fingerprint = createHash("sha256").update(blob).digest("base64").replace("=", "");
    const lines = renderConsole("w-1", `ssh-ed25519 ${blob.toString("base64")}`).split("\n");
    const begin = lines.indexOf("-----BEGIN SSH HOST KEY KEYS-----");
    assert.deepEqual(lines.slice(begin + 1, begin + 3), [
      `ssh-ed25519 ${blob.toString("base64")} root@w-1`,
      "-----END SSH HOST KEY KEYS-----",
    ]);
    assert.ok(lines.includes(`256 SHA256:${fingerprint} root@w-1 (ED25519)`));
  });
});
