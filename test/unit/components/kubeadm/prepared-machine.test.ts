import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import * as pulumi from "@pulumi/pulumi";
import type { KubeadmClusterArgs } from "../../../../components/kubeadm/kubeadm-cluster-args";

const HOST_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHt0ZXN0";
const machines = (["control-plane", "control-plane", "control-plane", "worker"] as const).map(
  (role, index) => ({
    name: `m-${index + 1}`,
    role,
    address: `192.0.2.${index + 1}`,
    internalAddress: `10.0.0.${index + 1}`,
    hostKey: HOST_KEY,
  }),
);

describe("the preparation of a machine", () => {
  const commands = new Map<string, string>();
  /** The scripts of the machines by the names of their commands. */
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

  it("contains no address of another worker without a proxy, for which it would wait", async () => {
    const scripts = await prepared({});
    const others = [...scripts].filter(([name]) => !name.includes("m-4")).map(([, script]) => script);
    assert.equal(others.length, 3);
    for (const script of others) assert.ok(!script.includes("10.0.0.4"));
  });
});
