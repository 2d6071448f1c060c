import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import type { HandlerKey } from "../../providers/handlers";
import { removeFolder } from "../engine/compiled-clone";
import { SlowRelay } from "../simulation/slow-relay";
import { TestAuthority } from "../support/certificates";
import { kubeconfigOf, TestKubernetesServer } from "../support/kubernetes-server";
import { exampleMachine } from "../unit/providers/kubeadm/machine/examples";
import { common, drain, rollout } from "./handler-samples";
import { ProviderHost } from "./provider-host";
import { nodeRolloutSteps } from "../../providers/kubeadm/plan/steps";
import { stepsOfKind } from "../support/steps";

/** For how long all resources of a preview together may wait for a cluster that does not answer. */
const LIMIT_MILLISECONDS = 15_000;
const NAMES = ["cp-1", "cp-2", "w-1", "g-1"];

const machines = NAMES.map((name) => exampleMachine(name, name === "g-1" ? { group: "gpu" } : {}));
const groupOf = (group: string) => machines.filter((machine) => machine.group === group);

describe("a preview of a cluster that answers late or never", function () {
  this.timeout(120_000);
  const folder = mkdtempSync(path.join(tmpdir(), "foresail-unread-"));
  const authority = new TestAuthority(folder);
  const server = new TestKubernetesServer(authority.issue("server", "/CN=server", ["IP:127.0.0.1"]));
  const admin = {
    certificateAuthority: "",
    clientCertificate: Buffer.from(authority.issue("admin", "/CN=admin").certificate).toString("base64"),
    clientKey: "",
  };
  let host: ProviderHost;
  let mute: Server;
  const sockets = new Set<Socket>();

  before(async () => {
    host = await ProviderHost.inClone();
    await server.listen();
    for (const { name, group, role, internalAddress } of machines) {
      const pool = role === "worker" ? group : role;
      server.store.put(`/api/v1/nodes/${name}`, {
        apiVersion: "v1",
        kind: "Node",
        metadata: {
          name,
          labels: { "foresail/group": group, [`node-role.kubernetes.io/${pool}`]: "" },
        },
        status: {
          conditions: [{ type: "Ready", status: "True" }],
          nodeInfo: { kubeletVersion: "v1.36.3" },
          addresses: [{ type: "InternalIP", address: internalAddress }],
        },
      });
    }
    // accepts connections and sends nothing, as a firewall that drops the responses
    mute = createServer((socket) => void sockets.add(socket.on("error", () => undefined)));
    await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
  });
  after(async () => {
    await host?.stop();
    await server.close();
    for (const socket of sockets) socket.destroy();
    mute.close();
    removeFolder(folder);
  });

  interface Line {
    resource: string;
    changes: boolean;
    steps: string[];
  }

  /** Every resource that reads the cluster, in the order of the engine: workers after control planes, in parallel. */
  async function preview(port: number): Promise<{ lines: Line[]; milliseconds: number }> {
    const started = Date.now();
    const shared = {
      ...common,
      kubeconfig: kubeconfigOf(authority, [{ port }]),
      machines: machines.map((machine) => ({ ...machine, apiServer: `127.0.0.1:${port}` })),
    };
    const lines: Line[] = [];
    const look = async (resource: string, key: HandlerKey, news: object, outputs: object) => {
      const { inputs } = await host.check(key, news, news);
      const { changes } = await host.diff(key, { ...news, ...outputs }, inputs);
      lines.push({ resource, changes, steps: (inputs.steps ?? []) as string[] });
    };
    const group = (name: string) => ({
      ...shared,
      group: name,
      machines: groupOf(name),
      controlPlanes: groupOf("control-plane"),
      lost: [],
      drain,
    });
    await look("AdminKubeconfig", "kubeadm/AdminKubeconfig", shared, { admin, healthy: "cp-1" });
    await look("control-plane", "kubeadm/NodeGroup", group("control-plane"), {});
    await Promise.all(["workers", "gpu"].map((name) => look(name, "kubeadm/NodeGroup", group(name), {})));
    await look("NodeRollout", "kubeadm/NodeRollout", { ...shared, rollout, drain }, {});
    return { lines, milliseconds: Date.now() - started };
  }

  it("has no step and no unread line when it answers", async () => {
    const { lines } = await preview(server.port);
    assert.ok(lines.length >= 5);
    for (const { resource, changes, steps } of lines)
      assert.deepEqual([resource, changes, steps], [resource, false, []]);
  });

  it("asks it for its Nodes once for all resources, and the next time again", async () => {
    for (let run = 1; run <= 2; run++) {
      server.calls.length = 0;
      await preview(server.port);
      const asked = server.calls.filter((call) => call !== "GET /readyz");
      // AdminKubeconfig asks for /readyz; the first of the Nodes is one Node, which shows that the server answers
      assert.deepEqual(asked, [
        "GET /api/v1/nodes",
        "GET /api/v1/nodes",
        "GET /api/v1/namespaces/kube-system/configmaps/kubeadm-config",
        // whether writes reach etcd: the kubelets renew them
        "GET /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases",
      ]);
    }
  });

  it("lists each machine as unread and changes nothing else, within 15 seconds in total, when nothing answers", async () => {
    const { lines, milliseconds } = await preview((mute.address() as AddressInfo).port);
    assert.ok(milliseconds < LIMIT_MILLISECONDS, `${milliseconds} ms`);
    const unread = lines.flatMap(({ steps }) => steps.slice(1));
    const machines = stepsOfKind(nodeRolloutSteps, "unread", unread).map(({ machine }) => machine);
    assert.equal(machines.length, unread.length, unread.join("\n"));
    assert.deepEqual(machines.sort(), NAMES.flatMap((name) => [name, name]).sort(), unread.join("\n"));
    for (const { resource, steps, changes } of lines.filter(({ steps }) => steps.length > 0)) {
      assert.equal(nodeRolloutSteps.parse(steps[0]!)?.kind, "recorded");
      assert.equal(changes, true, resource);
    }
    assert.deepEqual([lines[0]?.resource, lines[0]?.changes], ["AdminKubeconfig", false]);
  });

  for (const milliseconds of [400, 1500, 4000])
    it(`differs from the previous one only by unread lines when each response is ${milliseconds} ms late`, async () => {
      const relay = await SlowRelay.open(server.port, milliseconds);
      try {
        const { lines, milliseconds: took } = await preview(relay.port);
        assert.ok(took < 2 * LIMIT_MILLISECONDS, `${took} ms`);
        for (const { resource, changes, steps } of lines) {
          const others = steps.filter((line) => !/^\S+: unread: |^from the recorded state, /.test(line));
          assert.deepEqual(others, [], resource);
          assert.equal(changes, steps.length > 0, resource);
        }
      } finally {
        await relay.close();
      }
    });
});
