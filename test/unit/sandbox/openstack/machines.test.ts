import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { BalancerListener } from "../../../../sandbox/openstack/machines/balancer";
import type {
  ContainerState,
  MachineAnswer,
  MachineRequest,
} from "../../../../sandbox/openstack/machines/decision";
import { Machines } from "../../../../sandbox/openstack/machines/machines";

const request: MachineRequest = {
  name: "w-1",
  hostname: "w-1",
  power: "on",
  boot: 1,
  addresses: [
    { port: "p-1", mac: "", network: "n", cidr: "10.0.0.0/24", gateway: "10.0.0.1", address: "10.0.0.5" },
  ],
  key: null,
};

describe("the process that runs a cloud's servers", () => {
  let folder: string;
  let calls: string[];
  let containers: Map<string, ContainerState>;
  let failure: Error | undefined;
  /** what a creation waits for */
  let held: Promise<void> | undefined;
  let machines: Machines;

  const note = (what: string) => (id: string) => {
    calls.push(`${what} ${id}`);
    return failure === undefined ? Promise.resolve() : Promise.reject(failure);
  };
  const hosts = {
    find: () => Promise.resolve(new Map(containers)),
    create: async (id: string) => {
      await note("create")(id);
      await held;
      return {
        name: id,
        container: id,
        sshPort: 1,
        apiPort: 2,
        internalAddress: "",
        hostKey: "ssh-ed25519 AAAA",
      };
    },
    start: note("start"),
    stop: note("stop"),
    remove: note("remove"),
    setFloatingIp: (id: string, address: string | undefined) => note(`floating ${address}`)(id),
    balance: (id: string, listeners: readonly BalancerListener[]) =>
      note(`balance ${listeners.map(({ port }) => port).join(",")}`)(id),
  };

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "foresail-machines-"));
    calls = [];
    containers = new Map();
    failure = undefined;
    held = undefined;
    const paths = {
      machines: path.join(folder, "machines"),
      floatingIps: path.join(folder, "floating-ips.json"),
    };
    machines = new Machines(paths, hosts, () => undefined);
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function ask(id: string, wanted: MachineRequest): Promise<void> {
    await mkdir(path.join(folder, "machines", id), { recursive: true });
    await writeFile(path.join(folder, "machines", id, "request.json"), JSON.stringify(wanted));
  }

  async function look(): Promise<string[]> {
    calls = [];
    await machines.look();
    await machines.waitUntilIdle();
    return calls;
  }

  const answered = async (id: string) =>
    JSON.parse(await readFile(path.join(folder, "machines", id, "answer.json"), "utf8")) as MachineAnswer;

  it("creates a server once, shows its host key and answers", async () => {
    await ask("a", request);
    assert.deepEqual(await look(), ["create a", "floating undefined a"]);
    assert.deepEqual(await answered("a"), { state: "running", boot: 1, message: "" });
    assert.match(
      await readFile(path.join(folder, "machines", "a", "console.log"), "utf8"),
      /ssh-ed25519 AAAA root@w-1/,
    );
    assert.deepEqual(await look(), []);
  });

  it("reports why a server could not be created, and does not retry", async () => {
    failure = new Error("no such subnet");
    await ask("a", request);
    await look();
    assert.deepEqual(await answered("a"), { state: "failed", boot: 1, message: "no such subnet" });
    assert.deepEqual(await look(), []);
  });

  it("forgets a server only when its container is gone", async () => {
    await ask("a", request);
    await look();
    await rm(path.join(folder, "machines", "a", "request.json"));
    failure = new Error("the engine is away");
    assert.deepEqual(await look(), ["remove a"]);
    assert.ok(existsSync(path.join(folder, "machines", "a")));
    failure = undefined;
    assert.deepEqual(await look(), ["remove a"]);
    assert.ok(!existsSync(path.join(folder, "machines", "a")));
  });

  it("starts what ran when the cloud was stopped, with its floating IP", async () => {
    containers.set("a", "stopped");
    await ask("a", request);
    await writeFile(
      path.join(folder, "machines", "a", "answer.json"),
      JSON.stringify({ state: "running", boot: 1 }),
    );
    await writeFile(
      path.join(folder, "floating-ips.json"),
      JSON.stringify([{ address: "10.77.0.9", port: "p-1" }]),
    );
    assert.deepEqual(await look(), ["start a", "floating 10.77.0.9 a"]);
    assert.deepEqual(await look(), []);
  });

  it("gives a load balancer's machine its listeners, and again when they change or it failed", async () => {
    const listener = { port: 6443, cidrs: [], members: [], check: null };
    await ask("b", { ...request, listeners: [] });
    assert.deepEqual(await look(), ["create b", "floating undefined b", "balance  b"]);
    assert.deepEqual(await look(), []);
    await ask("b", { ...request, listeners: [listener] });
    failure = new Error("haproxy does not start");
    assert.deepEqual(await look(), ["balance 6443 b"]);
    assert.equal((await answered("b")).state, "failed");
    failure = undefined;
    assert.deepEqual(await look(), ["balance 6443 b"]);
    assert.equal((await answered("b")).state, "running");
    assert.deepEqual(await look(), []);
  });

  it("moves a floating IP when Neutron does", async () => {
    await ask("a", request);
    await look();
    await writeFile(
      path.join(folder, "floating-ips.json"),
      JSON.stringify([{ address: "10.77.0.9", port: "p-1" }]),
    );
    assert.deepEqual(await look(), ["floating 10.77.0.9 a"]);
    await writeFile(path.join(folder, "floating-ips.json"), "[]");
    assert.deepEqual(await look(), ["floating undefined a"]);
  });

  it("works on a few servers at once, and on all in the end", async () => {
    for (const id of ["a", "b", "c", "d", "e"]) await ask(id, request);
    const created = () => calls.filter((call) => call.startsWith("create"));
    let release = () => {};
    held = new Promise((resolve) => (release = resolve));
    await machines.look();
    await machines.look();
    assert.equal(created().length, 3);
    release();
    await machines.waitUntilIdle();
    await machines.look();
    await machines.waitUntilIdle();
    assert.equal(created().length, 5);
  });
});
