import assert from "node:assert/strict";
import type { Tumblebug } from "../../../providers/tumblebug/client";
import type { FirewallRule } from "../../../providers/tumblebug/plan/model";
import { oneAfterTheOther } from "../../one-after-the-other";
import { acceptanceServer, freshName, type AcceptanceServer } from "./server";

const RULE: FirewallRule = {
  ...{ direction: "inbound", protocol: "tcp", ports: [22, 22], cidr: "192.0.2.0/24" },
};
const NODE_PORTS: FirewallRule = { ...RULE, ports: [30000, 32767] };
const ENDED = ["Terminated", "Failed"];

/** In the order of a stack's life cycle: each step creates what the next one needs, and the last ones delete. */
describe("The client on the Tumblebug server under acceptance", function () {
  this.timeout(900_000);
  const namespace = freshName("fsclient");
  let server: AcceptanceServer;
  let tumblebug: Tumblebug;

  before(async function () {
    server = await acceptanceServer(this);
    tumblebug = await server.open();
  });

  oneAfterTheOther();

  after(async () => {
    tumblebug?.close();
    await server?.close();
  });

  const group = (name: string, size: number, spec = "t1") => ({
    ...{ name, size, connection: server.connection, spec },
    image: server.generation === "mcis" ? "i1" : server.cloudImage,
    ...{ vNet: "v1", subnet: "s1", securityGroups: ["g1"], sshKey: "k1", user: "cb-user" },
  });
  const machines = async () => (await tumblebug.infrastructures.read(namespace, "k1"))?.machines ?? [];

  it("finds the cloud behind the connection and what it offers", async () => {
    const { connection, cloudSpec, cloudImage } = server;
    const found = await tumblebug.readConnection(connection);
    assert.ok(found);
    assert.equal(found.name, connection);
    if (server.generation === "mcis") assert.ok((await tumblebug.readRegion(found))?.region !== undefined);
    assert.equal(await tumblebug.readConnection("no-such-connection"), undefined);
    const spec = await tumblebug.lookupSpec(connection, cloudSpec);
    assert.ok((spec?.vcpus ?? 0) > 0 && (spec?.memoryMebibytes ?? 0) > 0, JSON.stringify(spec));
    assert.equal(await tumblebug.lookupSpec(connection, "no-such-spec"), undefined);
    assert.equal((await tumblebug.lookupImage(connection, cloudImage))?.name === "", false);
    assert.equal(await tumblebug.lookupImage(connection, "no-such-image"), undefined);
  });

  it("creates a namespace once and reports what does not exist", async () => {
    assert.equal(await tumblebug.namespaces.read(namespace), undefined);
    assert.equal(await tumblebug.infrastructures.read(namespace, "k1"), undefined);
    assert.deepEqual(await tumblebug.vNets.list(namespace), []);
    const made = await tumblebug.namespaces.create({ name: namespace, description: "foresail" });
    assert.deepEqual([made.name, made.description], [namespace, "foresail"]);
    await assert.rejects(tumblebug.namespaces.create({ name: namespace }), { code: "AlreadyExists" });
  });

  it("creates each object that VMs need, finds it, and refuses to create it again", async () => {
    const { connection } = server;
    const network = {
      ...{ name: "v1", connection, cidr: "10.21.7.0/24", description: "foresail" },
      subnet: "s1",
    };
    await assert.rejects(
      tumblebug.securityGroups.create(namespace, { name: "g1", connection, vNet: "v1", rules: [] }),
    );
    assert.equal((await tumblebug.vNets.create(namespace, network)).name, "v1");
    await assert.rejects(tumblebug.vNets.create(namespace, network), { code: "AlreadyExists" });
    assert.equal((await tumblebug.vNets.read(namespace, "v1"))?.cidr, "10.21.7.0/24");
    const security = { name: "g1", connection, vNet: "v1", rules: [RULE] };
    await tumblebug.securityGroups.create(namespace, security);
    await assert.rejects(tumblebug.securityGroups.create(namespace, security), { code: "AlreadyExists" });
    const key = await tumblebug.sshKeys.create(namespace, { name: "k1", connection, user: "cb-user" });
    assert.notEqual(key.privateKey, "");
    const spec = { name: "t1", connection, cloudSpec: server.cloudSpec };
    assert.equal((await tumblebug.specs.create(namespace, spec)).name, "t1");
    assert.equal((await tumblebug.specs.read(namespace, "t1"))?.cloudSpec, server.cloudSpec);
    assert.deepEqual(
      (await tumblebug.specs.named(namespace, ["t1", "t9"])).map(({ name }) => name),
      ["t1"],
    );
    await tumblebug.images?.create(namespace, { name: "i1", connection, cloudImage: server.cloudImage });
    for (const kind of [tumblebug.vNets, tumblebug.securityGroups, tumblebug.sshKeys, tumblebug.specs]) {
      assert.equal(await kind.read(namespace, "nothing-here"), undefined);
      assert.equal(await kind.delete(namespace, "nothing-here"), false);
    }
  });

  it("opens and closes rules of a security group, each of them once", async () => {
    const { securityGroups } = tumblebug;
    const portsOf = ({ rules }: { rules: readonly FirewallRule[] }) =>
      rules.flatMap(({ ports, direction }) => (direction === "inbound" && ports ? [ports[0]] : []));
    for (let time = 1; time <= 2; time++)
      assert.ok(portsOf(await securityGroups.addRules(namespace, "g1", [NODE_PORTS])).includes(30000));
    for (let time = 1; time <= 2; time++)
      assert.ok(!portsOf(await securityGroups.removeRules(namespace, "g1", [NODE_PORTS])).includes(30000));
  });

  it("creates VMs in groups, however long the server blocks, and adds to them", async () => {
    const { infrastructures } = tumblebug;
    const desired = { name: "k1", groups: [group("cp", 2), group("w-1", 1)] };
    const made = await infrastructures.create(namespace, desired);
    assert.deepEqual(made.machines.map(({ name, status }) => `${name} ${status}`).sort(), [
      "cp-1 Running",
      "cp-2 Running",
      "w-1-1 Running",
    ]);
    await assert.rejects(infrastructures.create(namespace, desired), { code: "AlreadyExists" });
    await infrastructures.addGroup(namespace, "k1", group("w-2", 1));
    await infrastructures.addGroup(namespace, "k1", group("cp", 1));
    assert.deepEqual((await machines()).map(({ name }) => name).sort(), [
      "cp-1",
      "cp-2",
      "cp-3",
      "w-1-1",
      "w-2-1",
    ]);
    assert.ok((await machines()).every(({ status }) => status === "Running"));
    assert.equal((await infrastructures.readMachine(namespace, "k1", "cp-1"))?.group, "cp");
    assert.equal(await infrastructures.readMachine(namespace, "k1", "zz-1"), undefined);
  });

  it("reports why a VM can't be created, and finds its record", async () => {
    const adding = tumblebug.infrastructures.addGroup(namespace, "k1", group("bad", 1, "no-such-spec"));
    if (server.generation === "mcis") await adding;
    else await assert.rejects(adding, /no-such-spec/);
    const failed = (await machines()).find(({ name }) => name === "bad-1");
    assert.equal(failed?.status, "Failed");
    assert.match(failed.systemMessage, /no-such-spec/);
  });

  it("refuses to delete running VMs and the objects that VMs use", async () => {
    await assert.rejects(tumblebug.infrastructures.delete(namespace, "k1"), { code: "NotAllowedNow" });
    await assert.rejects(tumblebug.namespaces.delete(namespace), { code: "InUse" });
    // behind the older server only a real cloud refuses
    if (server.generation === "infra")
      await assert.rejects(tumblebug.securityGroups.delete(namespace, "g1"), { code: "InUse" });
  });

  it("keeps a load balancer's members when a request is repeated", async () => {
    const { loadBalancers } = tumblebug;
    assert.equal(await loadBalancers.read(namespace, "k1", "cp"), undefined);
    const desired = { group: "cp", port: 6443, targetPort: 6443 };
    const made = await loadBalancers.create(namespace, "k1", desired);
    assert.deepEqual([...made.machines].sort(), ["cp-1", "cp-2", "cp-3"]);
    await assert.rejects(loadBalancers.create(namespace, "k1", desired), { code: "AlreadyExists" });
    for (let time = 1; time <= 2; time++) await loadBalancers.removeMachines(namespace, "k1", "cp", ["cp-2"]);
    const left = await loadBalancers.read(namespace, "k1", "cp");
    assert.deepEqual([...(left?.machines ?? [])].sort(), ["cp-1", "cp-3"]);
    for (let time = 1; time <= 2; time++) await loadBalancers.addMachines(namespace, "k1", "cp", ["cp-2"]);
    assert.equal(await loadBalancers.delete(namespace, "k1", "cp"), true);
    assert.equal(await loadBalancers.delete(namespace, "k1", "cp"), false);
  });

  it("deletes a single VM, and succeeds when it is already gone", async () => {
    const { infrastructures } = tumblebug;
    assert.equal(await infrastructures.deleteMachine(namespace, "k1", "w-2-1"), true);
    assert.equal(await infrastructures.deleteMachine(namespace, "k1", "w-2-1"), false);
    assert.ok(!(await machines()).some(({ name }) => name === "w-2-1"));
  });

  it("terminates all VMs, and accepts a second request", async () => {
    const { infrastructures } = tumblebug;
    for (let time = 1; time <= 2; time++) await infrastructures.terminate(namespace, "k1", { force: true });
    assert.deepEqual(
      (await machines()).filter(({ status }) => !ENDED.includes(status)),
      [],
    );
  });

  it("deletes the infrastructure after all its VMs have terminated, including failed ones", async () => {
    const { infrastructures } = tumblebug;
    // this generation refuses forever to delete the record of failed VMs among terminated ones
    if (server.generation === "mcis") await assert.rejects(infrastructures.delete(namespace, "k1"));
    const force = server.generation === "mcis";
    assert.equal(await infrastructures.delete(namespace, "k1", { force }), true);
    assert.equal(await infrastructures.delete(namespace, "k1"), false);
    assert.equal(await infrastructures.read(namespace, "k1"), undefined);
  });

  it("deletes every object, and then the namespace", async () => {
    const { vNets, securityGroups, sshKeys, specs, images, namespaces } = tumblebug;
    assert.equal(await securityGroups.delete(namespace, "g1"), true);
    assert.equal(await vNets.delete(namespace, "v1"), true);
    assert.equal(await sshKeys.delete(namespace, "k1"), true);
    assert.equal(await specs.delete(namespace, "t1"), true);
    await images?.delete(namespace, "i1");
    assert.equal(await namespaces.delete(namespace), true);
    assert.equal(await namespaces.delete(namespace), false);
  });
});
