import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { Command, type CommandArgs } from "@pulumi/command/remote";
import * as pulumi from "@pulumi/pulumi";
import { MockMonitor } from "@pulumi/pulumi/runtime/mocks";
import type { KubeadmClusterArgs } from "../../../../components/kubeadm/kubeadm-cluster-args";

const SECRET = pulumi.runtime.specialSecretSig;
const HOST_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";
const machines = (["control-plane", "control-plane", "control-plane", "worker"] as const).map(
  (role, index) => ({
    name: `m-${index + 1}`,
    role,
    address: `192.0.2.${index + 1}`,
    internalAddress: `10.0.0.${index + 1}`,
    hostKey: HOST_KEY,
  }),
);

/** The parts of a registration that differ between resource classes. */
interface Request {
  getName(): string;
  getType(): string;
  getVersion(): string;
  getObject(): { toJavaScript(): Record<string, unknown> };
  getIgnorechangesList(): string[];
  getAdditionalsecretoutputsList(): string[];
  getReplaceonchangesList(): string[];
}

type Register = MockMonitor["registerResource"];

const classOf = (request: Request) => ({
  type: request.getType(),
  version: request.getVersion(),
  inputs: Object.keys(request.getObject().toJavaScript()).sort(),
  ignored: request.getIgnorechangesList(),
  secrets: request.getAdditionalsecretoutputsList(),
  replaced: request.getReplaceonchangesList(),
});

/** The names of the inputs that are sent as secrets, which the engine encrypts in state. */
const secretsOf = (request: Request) =>
  Object.entries(request.getObject().toJavaScript())
    .filter(([, value]) => (value as Record<string, unknown>)[pulumi.runtime.specialSigKey] === SECRET)
    .map(([name]) => name)
    .sort();

describe("the preparation of a machine", () => {
  const commands = new Map<string, string>();
  /** The scripts of the machines by the names of their commands, and what each command waits for. */
  async function prepared(args: Partial<KubeadmClusterArgs>): Promise<Map<string, string>> {
    const scripts = new Map<string, string>();
    await pulumi.runtime.setMocks({
      call: ({ inputs }) => inputs as Record<string, unknown>,
      newResource: ({ name, inputs }) => {
        const { stdin, create } = inputs as { stdin?: string | { value: string }; create?: string };
        if (create !== undefined) commands.set(name, create);
        const packed = typeof stdin === "object" ? stdin.value : stdin;
        if (packed !== undefined) scripts.set(name, gunzipSync(Buffer.from(packed, "base64")).toString());
        const admin = { certificateAuthority: "Q0E=", clientCertificate: "Q0M=", clientKey: "S0VZ" };
        return { id: `${name}-id`, state: { ...(inputs as object), nodes: [], healthy: "m-1", admin } };
      },
    });
    const { KubeadmCluster } = await import("../../../../components/kubeadm/kubeadm-cluster.js");
    const plugin = { bridge: {} };
    const cluster = new KubeadmCluster("demo", { version: "1.36.3", network: { plugin }, machines, ...args });
    await new Promise((resolve) => cluster.nodes.apply(resolve));
    return scripts;
  }

  it("lets no traffic between the cluster's machines use the proxy", async () => {
    const scripts = await prepared({ proxy: { https: "http://proxy.example.com:3128" } });
    assert.equal(scripts.size, machines.length);
    for (const [name, script] of scripts) {
      const direct = /NO_PROXY=([^']*)'/.exec(script)?.[1]?.split(",") ?? [];
      for (const { internalAddress } of machines) assert.ok(direct.includes(internalAddress), name);
      assert.ok(direct.includes("10.96.0.0/12") && direct.includes("10.244.0.0/16"), name);
    }
  });

  it("shows the port of the loopback endpoint in the command, as the script has it", async () => {
    for (const [endpoint, port] of [
      [{ loopback: {} }, 7445],
      [{ loopback: { port: 9001 } }, 9001],
    ] as const)
      for (const [name, script] of await prepared({ endpoint })) {
        assert.match(script, new RegExp(`^PORT='${port}'$`, "m"));
        assert.equal(commands.get(name), `base64 -d | gunzip | bash -s # loopback-port=${port}`);
      }
    await prepared({ endpoint: { external: { host: "192.0.2.9", port: 6443 } } });
    assert.deepEqual([...new Set(commands.values())], ["base64 -d | gunzip | bash -s"]);
  });

  it("is registered as a Command of @pulumi/command, whose own class would have seven more outputs", async () => {
    const requests = new Map<string, Request>();
    const register = Object.getOwnPropertyDescriptor(MockMonitor.prototype, "registerResource")
      ?.value as Register;
    MockMonitor.prototype.registerResource = function (this: MockMonitor, request: Request, callback) {
      requests.set(request.getName(), request);
      return register.call(this, request, callback);
    };
    try {
      await prepared({});
      const [own] = [...requests.values()].filter((request) => request.getName() === "demo-m-1-prepare");
      assert.ok(own);
      assert.deepEqual(secretsOf(own), ["connection", "stdin"]);
      const args = own.getObject().toJavaScript() as unknown as CommandArgs;
      const options = {
        ignoreChanges: ["connection", "create", "stdin", "logging"],
        additionalSecretOutputs: ["stdin"],
      };
      const { urn } = new Command("of the SDK", args, options);
      await new Promise((resolve) => urn.apply(resolve));
      const other = requests.get("of the SDK");
      assert.ok(other);
      assert.deepEqual(classOf(own), classOf(other));
    } finally {
      MockMonitor.prototype.registerResource = register;
    }
  });

  it("contains no address of another worker without a proxy, for which it would wait", async () => {
    const scripts = await prepared({});
    const others = [...scripts].filter(([name]) => !name.includes("m-4")).map(([, script]) => script);
    assert.equal(others.length, 3);
    for (const script of others) assert.ok(!script.includes("10.0.0.4"));
  });
});
