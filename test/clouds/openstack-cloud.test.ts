import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { SshConnection } from "../../lib/ssh";
import { ContainerEngine } from "../../sandbox/nodes/engine";
import { generateKey } from "../../lib/ssh/generated-key";
import { fleetNames, projectHash } from "../../sandbox/nodes/names";
import { projectFolder, systemFolder } from "../../sandbox/nodes/paths";
import type { CloudApi } from "../../sandbox/openstack/cloud-api";
import { CLOUD_NAMES } from "../../sandbox/openstack/seed";
import type { Reporter } from "../../sandbox/progress";
import { leaveOut } from "../left-out";
import { ensureToolchain } from "../../sandbox/toolchain";
import {
  awaitGone,
  awaitServer,
  findId,
  makeNetwork,
  makeServer,
  readServer,
  testCloud,
  TEST_CLOUD_SYSTEM,
  type TestNetwork,
} from "../support/openstack-cloud";

const silent: Reporter = { step: (_title, work) => work(() => undefined) };
const names = fleetNames(projectHash(projectFolder), TEST_CLOUD_SYSTEM);
const CIDR = "10.97.31.0/24";
const FILE = "/var/lib/etcd/kept";

describe("the sandbox's OpenStack", function () {
  this.timeout(300_000);
  const cloud = testCloud();
  let python: string;
  let api: CloudApi;
  let engine: ContainerEngine;
  let key: { private: string; public: string };
  let network: TestNetwork;
  let server: string;
  let address: string;
  let hostKey: string;

  before(async function () {
    if (process.env.FORESAIL_TEST_ALL !== "1")
      leaveOut(
        this,
        "openstack.test.ts uses the sandbox's cloud by default; FORESAIL_TEST_ALL=1 tests it by itself",
      );
    await cloud.delete();
    engine = await ContainerEngine.ensure(silent);
    python = (await ensureToolchain({ python: ["openstack"] }, silent)).python("openstack");
    key = generateKey();
    await cloud.start(python, silent);
    api = await cloud.api("project");
    await api.call("nova", "POST", "/os-keypairs", { keypair: { name: "e2e", public_key: key.public } });
    network = await makeNetwork(api, "e2e", CIDR);
  });

  after(() => cloud.delete());

  async function ask(target: string, command: string): Promise<string> {
    const connection = await SshConnection.open(
      { name: "w-1", address: target, port: 22, user: "foresail", hostKey, privateKey: key.private },
      { seconds: 30 },
    );
    try {
      return (await connection.run(command, { name: "ask", seconds: 20 })).stdout.trim();
    } finally {
      connection.close();
    }
  }

  const processes = async () => (await cloud.status()).running;

  it("runs completely, and only its owner can read its passwords", async () => {
    assert.deepEqual((await cloud.status()).missing, []);
    for (const file of [cloud.paths.settings, cloud.paths.clouds]) {
      assert.equal((await stat(file)).mode & 0o777, 0o600, file);
    }
    assert.equal((await stat(cloud.paths.folder)).mode & 0o777, 0o700);
  });

  it("gives a server its address, its key and its name, and shows its host key on the console", async () => {
    server = await makeServer(api, "w-1", network.network, { key: "e2e" });
    const active = await awaitServer(api, server, ["ACTIVE", "ERROR"], 120);
    assert.equal(active.status, "ACTIVE", active.fault?.message);
    address = active.addresses["e2e"]?.[0]?.addr ?? "";
    const { output } = (await api.call("nova", "POST", `/servers/${server}/action`, {
      "os-getConsoleOutput": {},
    })) as { output: string };
    const shown =
      /-----BEGIN SSH HOST KEY KEYS-----\n(\S+ \S+) root@w-1\n-----END SSH HOST KEY KEYS-----/.exec(output);
    hostKey = shown?.[1] ?? "";
    const answer = await ask(
      address,
      `hostname; sudo -n id -u; ip -4 -o addr show eth0; echo kept | sudo tee ${FILE}`,
    );
    const [hostname, uid, link, kept] = answer.split("\n");
    assert.deepEqual([hostname, uid, kept], ["w-1", "0", "kept"]);
    assert.match(link ?? "", new RegExp(`inet ${address.replaceAll(".", "\\.")}/24 `));
  });

  it("routes a floating IP to the server until it is removed", async () => {
    const external = await findId(api, "neutron", "/v2.0/networks", CLOUD_NAMES.publicNetwork);
    const { router } = (await api.call("neutron", "POST", "/v2.0/routers", {
      router: { name: "e2e", external_gateway_info: { network_id: external } },
    })) as { router: { id: string } };
    await api.call("neutron", "PUT", `/v2.0/routers/${router.id}/add_router_interface`, {
      subnet_id: network.subnet,
    });
    const { ports } = (await api.call("neutron", "GET", `/v2.0/ports?device_id=${server}`)) as {
      ports: { id: string }[];
    };
    const { floatingip } = (await api.call("neutron", "POST", "/v2.0/floatingips", {
      floatingip: { floating_network_id: external, port_id: ports[0]?.id },
    })) as { floatingip: { id: string; floating_ip_address: string } };
    const floating = floatingip.floating_ip_address;
    // the server's way out stays the one of its own network
    await eventually(async () =>
      assert.match(await ask(floating, "ip route show default"), /^default via 10\.97\.31\.1 dev eth0\s*$/),
    );
    await api.call("neutron", "DELETE", `/v2.0/floatingips/${floatingip.id}`);
    await eventually(async () =>
      assert.doesNotMatch(await ask(address, "ip -4 -o addr"), new RegExp(floating)),
    );
    await api.call("neutron", "PUT", `/v2.0/routers/${router.id}/remove_router_interface`, {
      subnet_id: network.subnet,
    });
    await api.call("neutron", "DELETE", `/v2.0/routers/${router.id}`);
  });

  it("keeps a server and its disk when the cloud stops and starts", async () => {
    await cloud.stop();
    assert.deepEqual(await processes(), []);
    assert.deepEqual(await runningContainers(), []);
    await cloud.start(python, silent);
    api = await cloud.api("project");
    assert.equal((await readServer(api, server)).status, "ACTIVE");
    await eventually(async () => assert.equal(await ask(address, `sudo cat ${FILE}`), "kept"));
  });

  it("changes nothing at a second start", async () => {
    const before = await readFile(cloud.paths.processes, "utf8");
    await cloud.start(python, silent);
    assert.equal(await readFile(cloud.paths.processes, "utf8"), before);
  });

  it("stops the container of a server that is shut off, and starts it again", async () => {
    await api.call("nova", "POST", `/servers/${server}/action`, { "os-stop": null });
    await awaitServer(api, server, ["SHUTOFF"], 60);
    assert.deepEqual(await runningContainers(), []);
    await api.call("nova", "POST", `/servers/${server}/action`, { "os-start": null });
    await awaitServer(api, server, ["ACTIVE"], 60);
    assert.equal(await ask(address, "hostname"), "w-1");
  });

  it("reports why a server can't be created", async () => {
    const large = await makeServer(api, "large", network.network, { flavor: CLOUD_NAMES.impossibleFlavor });
    const refused = await awaitServer(api, large, ["ERROR", "ACTIVE"], 60);
    assert.match(refused.fault?.message ?? "", /No valid host was found/);
    await api.call("nova", "DELETE", `/servers/${large}`);
    await awaitGone(api, large, 60);

    const [taken] = await engine.subnets(`${names.network}-public`);
    const clash = await makeNetwork(api, "clash", taken ?? "");
    const unlucky = await makeServer(api, "unlucky", clash.network);
    const failed = await awaitServer(api, unlucky, ["ERROR", "ACTIVE"], 60);
    assert.match(failed.fault?.message ?? "", /the subnet \S+ can't be created on this machine/);
    await api.call("nova", "DELETE", `/servers/${unlucky}`);
    await awaitGone(api, unlucky, 60);
    await api.call("neutron", "DELETE", `/v2.0/networks/${clash.network}`);

    await cloud.setQuota({ compute: { instances: 1 } });
    await assert.rejects(makeServer(api, "second", network.network), {
      status: 403,
      message: /Quota exceeded/,
    });
    await cloud.setQuota({ compute: { instances: 100 } });
  });

  it("fails on request, as an unhealthy cloud does", async () => {
    const faults = await cloud.faults();
    await faults.next("nova", { kind: "status", status: 503 }, { path: "/servers", times: 2 });
    await assert.rejects(readServer(api, server), { status: 503 });
    await assert.rejects(readServer(api, server), { status: 503 });
    assert.equal((await readServer(api, server)).status, "ACTIVE");

    await faults.next("neutron", { kind: "lost-reply" }, { method: "POST", path: "/networks" });
    await assert.rejects(makeNetwork(api, "lost", "10.97.32.0/24"), TypeError);
    const lost = await findId(api, "neutron", "/v2.0/networks", "lost");
    await api.call("neutron", "DELETE", `/v2.0/networks/${lost}`);

    await faults.down("glance");
    await assert.rejects(api.call("glance", "GET", "/v2/images"), TypeError);
    await faults.clear();
    assert.ok(await findId(api, "glance", "/v2/images", CLOUD_NAMES.image));
  });

  it("removes a deleted server's container, volumes and network", async () => {
    await api.call("nova", "DELETE", `/servers/${server}`);
    await awaitGone(api, server, 60);
    assert.deepEqual(await engine.containers(names.labels), []);
    assert.deepEqual(await engine.volumes(names.labels), []);
    assert.deepEqual(await engine.networks(names.labels), [`${names.network}-public`]);
    const { ports } = (await api.call("neutron", "GET", `/v2.0/ports?network_id=${network.network}`)) as {
      ports: unknown[];
    };
    assert.deepEqual(ports, []);
  });

  it("leaves no process, container, volume, network or file", async () => {
    const recorded = JSON.parse(await readFile(cloud.paths.processes, "utf8")) as Record<
      string,
      { pid: number }
    >;
    await cloud.delete();
    for (const { pid } of Object.values(recorded)) assert.equal(existsSync(`/proc/${pid}`), false);
    assert.deepEqual(await engine.containers(names.labels), []);
    assert.deepEqual(await engine.volumes(names.labels), []);
    assert.deepEqual(await engine.networks(names.labels), []);
    assert.equal(existsSync(cloud.paths.folder), false);
    assert.equal(existsSync(systemFolder(TEST_CLOUD_SYSTEM)), false);
  });

  async function runningContainers(): Promise<string[]> {
    const containers = await engine.containers(names.labels);
    return containers.filter(({ state }) => state === "running").map(({ name }) => name);
  }
});

/** Retries until the assertion passes; fails with the last failure. */
async function eventually(check: () => Promise<void>, seconds = 45): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}
