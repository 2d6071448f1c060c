import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { SshConnection, type SshTarget } from "../../lib/ssh";
import { run } from "../../sandbox/nodes/command";
import { ContainerEngine } from "../../sandbox/nodes/engine";
import { ensureNodeImage, NodeFleet, nodeKeyFile, type SandboxNode } from "../../sandbox/nodes";
import { fleetNames, projectHash } from "../../sandbox/nodes/names";
import { createNode } from "../../sandbox/nodes/node-creation";
import { nodeFolder, projectFolder, systemFolder } from "../../sandbox/nodes/paths";
import { findFreePorts } from "../../sandbox/nodes/ports";
import type { Reporter } from "../../sandbox/progress";

const SYSTEM = "e2e-nodes";
const names = fleetNames(projectHash(projectFolder), SYSTEM);
const silent: Reporter = { step: (_title, work) => work(() => undefined) };

describe("container nodes", function () {
  this.timeout(120_000);
  const fleet = new NodeFleet(SYSTEM);
  let engine: ContainerEngine;
  let nodes: SandboxNode[];

  const specs = ["n-1", "n-2"].map((name) => ({ name, bundles: [] }));

  before(async () => {
    await fleet.deleteAll();
    await ensureNodeImage(silent);
    engine = await ContainerEngine.ensure(silent);
    nodes = await fleet.ensure(specs, silent);
  });

  after(() => fleet.deleteAll());

  async function ask(node: SandboxNode, command: string, changes: Partial<SshTarget> = {}): Promise<string> {
    const connection = await SshConnection.open(
      {
        name: node.name,
        address: node.address,
        port: node.sshPort,
        user: node.user,
        hostKey: node.hostKey,
        privateKey: await readFile(nodeKeyFile, "utf8"),
        ...changes,
      },
      { seconds: 20 },
    );
    try {
      return (await connection.run(command, { name: "ask", seconds: 20 })).stdout.trim();
    } finally {
      connection.close();
    }
  }

  it("answer SSH with a host key, a name and a machine-id of their own, and a user with sudo", async () => {
    const answers = await Promise.all(
      nodes.map((node) =>
        ask(node, "hostname; sudo -n id -u; systemd-detect-virt --container; cat /etc/machine-id"),
      ),
    );
    const machineIds = answers.map((answer, index) => {
      const [hostname, uid, virtual, machineId] = answer.split("\n");
      assert.deepEqual([hostname, uid, virtual], [specs[index]?.name, "0", engine.program]);
      return machineId;
    });
    assert.notEqual(machineIds[0], machineIds[1]);
    assert.notEqual(nodes[0]?.hostKey, nodes[1]?.hostKey);
  });

  it("refuse root's login, and are rejected when another node answers at their address", async () => {
    await assert.rejects(ask(nodes[0]!, "true", { user: "root" }), { name: "AuthenticationRefused" });
    await assert.rejects(ask(nodes[0]!, "true", { hostKey: nodes[1]!.hostKey }), { name: "HostKeyMismatch" });
  });

  it("reach each other at their internal addresses", async () => {
    const greeting = await ask(
      nodes[0]!,
      `timeout 5 bash -c 'head -c 8 < /dev/tcp/${nodes[1]!.internalAddress}/22'`,
    );
    assert.equal(greeting, "SSH-2.0-");
  });

  it("stop services without affecting those of the other node", async () => {
    await ask(nodes[0]!, "sudo systemctl stop containerd");
    assert.equal(await ask(nodes[1]!, "systemctl is-active containerd"), "active");
  });

  it("keep disk, ports, address and host key when power fails and comes back", async () => {
    await ask(nodes[1]!, "sudo -n sh -c 'echo kept > /var/lib/etcd/file; echo kept > /root/file'");
    await fleet.kill("n-2");
    assert.deepEqual(
      (await fleet.list()).map(({ name, running }) => [name, running]),
      [
        ["n-1", true],
        ["n-2", false],
      ],
    );
    const again = await fleet.start("n-2");
    assert.deepEqual(again, nodes[1]);
    assert.equal(await ask(again, "sudo cat /var/lib/etcd/file /root/file"), "kept\nkept");
  });

  it("are not changed by a second ensure", async () => {
    const before = await engine.containers(names.labels);
    assert.deepEqual(await fleet.ensure(specs, silent), nodes);
    assert.deepEqual(await engine.containers(names.labels), before);
  });

  it("come back when the container engine still lists processes that are gone", async () => {
    await killBehindTheEngine("n-1");
    assert.equal((await fleet.list()).find(({ name }) => name === "n-1")?.running, false);
    const again = await fleet.ensure(specs, silent);
    assert.deepEqual(again, nodes);
    assert.equal(await ask(again[0]!, "hostname"), "n-1");
  });

  it("are deleted when a run was killed before they were complete, and only then", async () => {
    const [sshPort, apiPort] = await findFreePorts(
      names.project,
      2,
      new Set(nodes.flatMap((node) => [node.sshPort, node.apiPort])),
    );
    const internalAddress = nodes[0]!.internalAddress.replace(/\d+$/, "99");
    await createNode(
      engine,
      names,
      "half",
      { sshPort: sshPort!, apiPort: apiPort!, internalAddress },
      undefined,
    );
    const other = `${names.network}er-lone-etcd`;
    await createVolume(SYSTEM, `${names.network}-lone-etcd`);
    await createVolume(`${SYSTEM}er`, other);
    assert.deepEqual(await fleet.cleanLeftovers(), ["half", "lone"]);
    // of another system
    await engine.call(["volume", "rm", other]);
    assert.equal(existsSync(nodeFolder(SYSTEM, "half")), false);
    assert.deepEqual(
      (await fleet.list()).map(({ name }) => name),
      ["n-1", "n-2"],
    );
  });

  it("leave no container, volume, network or folder", async () => {
    await killBehindTheEngine("n-2");
    await fleet.deleteAll();
    assert.deepEqual(await engine.containers(names.labels), []);
    assert.deepEqual(await engine.volumes(names.labels), []);
    assert.deepEqual(await engine.networks(names.labels), []);
    assert.equal(existsSync(systemFolder(SYSTEM)), false);
  });

  async function createVolume(system: string, name: string): Promise<void> {
    const labels = [`foresail.project=${names.project}`, `foresail.system=${system}`];
    await engine.call(["volume", "create", ...labels.flatMap((label) => ["--label", label]), name]);
  }

  /** Ends a node's processes, the engine's own watcher first, so that the engine misses it. */
  async function killBehindTheEngine(node: string): Promise<void> {
    const container = `${names.network}-${node}`;
    const format = engine.program === "podman" ? "{{.State.ConmonPid}} {{.State.Pid}}" : "{{.State.Pid}}";
    const pids = (await run(engine.program, ["container", "inspect", "--format", format, container]))
      .trim()
      .split(" ");
    for (const pid of pids) process.kill(Number(pid), "SIGKILL");
  }
});
