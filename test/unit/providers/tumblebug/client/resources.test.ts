import assert from "node:assert/strict";
import type { Objects, Tumblebug } from "../../../../../providers/tumblebug/client";
import {
  CONNECTION,
  GENERATIONS,
  startFakeTumblebug,
  type FakeTumblebug,
} from "../../../../support/tumblebug";

/** Kinds of objects by what they need, each with a desired object. */
const KINDS: readonly {
  readonly name: string;
  readonly type: string;
  readonly of: (tumblebug: Tumblebug) => Objects<{ readonly name: string }, { readonly name: string }>;
  readonly desired: { readonly name: string; readonly connection: string };
}[] = [
  {
    name: "vNets",
    type: "vNet",
    of: ({ vNets }) => vNets,
    desired: {
      name: "v2",
      connection: CONNECTION,
      ...{ cidr: "10.22.0.0/24", subnet: "s2" },
    },
  },
  {
    name: "security groups",
    type: "securityGroup",
    of: ({ securityGroups }) => securityGroups,
    desired: {
      name: "g2",
      connection: CONNECTION,
      ...{
        vNet: "v1",
        rules: [
          { direction: "inbound", protocol: "tcp", ports: [22, 22], cidr: "192.0.2.0/24" },
          { direction: "inbound", protocol: "udp", ports: [8472, 8473], cidr: "10.0.0.0/8" },
          { direction: "inbound", protocol: "icmp", cidr: "0.0.0.0/0" },
        ],
      },
    },
  },
  {
    name: "SSH keys",
    type: "sshKey",
    of: ({ sshKeys }) => sshKeys,
    desired: { name: "k2", connection: CONNECTION, ...{ user: "cb-user" } },
  },
  {
    name: "images",
    type: "image",
    of: ({ images }) => images!,
    desired: { name: "i2", connection: CONNECTION, ...{ cloudImage: "ubuntu-22.04" } },
  },
  {
    name: "specs",
    type: "spec",
    of: ({ specs }) => specs,
    desired: { name: "t2", connection: CONNECTION, ...{ cloudSpec: "t3.large" } },
  },
];

for (const generation of GENERATIONS)
  describe(`objects of Tumblebug (${generation})`, () => {
    let fake: FakeTumblebug;

    before(async () => {
      fake = await startFakeTumblebug(generation);
      await fake.tumblebug.namespaces.create({ name: "ns1" });
      await fake.tumblebug.vNets.create("ns1", {
        name: "v1",
        connection: CONNECTION,
        cidr: "10.21.0.0/24",
        subnet: "s1",
      });
    });
    after(() => fake.close());
    afterEach(() => fake.server.faults.clear());

    for (const { name, type, of, desired } of KINDS) {
      if (type === "image" && generation === "infra") continue;
      it(`creates, finds, lists and deletes ${name}`, async () => {
        const kind = of(fake.tumblebug);
        const id = desired.name;
        assert.equal(await kind.read("ns1", id), undefined);
        assert.equal(await kind.delete("ns1", id), false);
        const made = await kind.create("ns1", desired);
        assert.equal(made.name, id);
        assert.deepEqual(await kind.read("ns1", id), made);
        assert.deepEqual(await kind.named("ns1", ["none", id]), [made]);
        // a spec that exists is not an error there, and is left as it is
        if (generation === "infra" && type === "spec")
          assert.equal((await kind.create("ns1", desired)).name, id);
        else await assert.rejects(kind.create("ns1", desired), { code: "AlreadyExists" });
        assert.deepEqual(await kind.read("ns1", id), made);
        assert.equal(await kind.delete("ns1", id), true);
        assert.equal(await kind.read("ns1", id), undefined);
      });

      for (const [says, kindOfFault, posts] of [
        ["finds what was made when the answer got lost", "lost-reply", 1],
        ["asks again when the request was lost before it was carried out", "refused", 2],
      ] as const)
        it(`${name}: ${says}`, async () => {
          const { server, tumblebug } = fake;
          const kind = of(tumblebug);
          server.passed.length = 0;
          server.faults.add({ method: "POST", path: type, times: 1, effect: { kind: kindOfFault } });
          const made = await kind.create("ns1", desired);
          assert.equal(made.name, desired.name);
          const sent = server.passed.filter(({ method }) => method === "POST").length;
          assert.equal(sent, posts - (kindOfFault === "refused" ? 1 : 0), "POSTs that reached the server");
          assert.equal((await kind.named("ns1", [made.name])).length, 1);
          await kind.delete("ns1", made.name);
        });
    }

    it("returns what was requested", async () => {
      const { tumblebug } = fake;
      const network = await tumblebug.vNets.read("ns1", "v1");
      assert.equal(network?.cidr, "10.21.0.0/24");
      assert.deepEqual(network.subnets, [{ name: "s1" }]);
      assert.equal(network.connection, CONNECTION);

      const desired = KINDS[1]!.desired as never as Parameters<typeof tumblebug.securityGroups.create>[1];
      const group = await tumblebug.securityGroups.create("ns1", desired);
      assert.deepEqual(group.rules, desired.rules);
      await tumblebug.securityGroups.delete("ns1", desired.name);

      const key = await tumblebug.sshKeys.create("ns1", {
        name: "k3",
        connection: CONNECTION,
        user: "cb-user",
      });
      assert.match(key.privateKey, /PRIVATE KEY/);
      assert.equal((await tumblebug.sshKeys.read("ns1", "k3"))?.privateKey, key.privateKey);

      const spec = await tumblebug.specs.create("ns1", {
        name: "t3",
        connection: CONNECTION,
        cloudSpec: "t3.medium",
      });
      assert.equal(spec.cloudSpec, "t3.medium");
    });

    it("reads specs one by one where the server has no list of them", async () => {
      const { tumblebug, server } = fake;
      const desired = { name: "t4", connection: CONNECTION, cloudSpec: "t3.medium" };
      const made = await tumblebug.specs.create("ns1", desired);
      server.passed.length = 0;
      const effect = { kind: "status", status: 404, message: "Not Found" } as const;
      if (generation === "infra") server.faults.add({ method: "GET", path: "/resources/spec$", effect });
      assert.deepEqual(await tumblebug.specs.named("ns1", ["t4", "t5"]), [made]);
      const lists = server.passed.filter(({ path }) => path.endsWith("/resources/spec")).length;
      assert.equal(lists, generation === "mcis" ? 1 : 0);
      await tumblebug.specs.delete("ns1", "t4");
    });

    it("does not mistake a spec that the server found by the cloud's name for one of that name", async () => {
      const { tumblebug, server } = fake;
      const text = JSON.stringify({ id: "tb-t3-medium", cspSpecName: "t3.medium" });
      server.faults.add({ method: "GET", path: "/spec/", effect: { kind: "status", status: 200, text } });
      assert.equal(await tumblebug.specs.read("ns1", "t3.medium"), undefined);
    });

    it("has images to register only on mcis", () => {
      assert.equal(fake.tumblebug.images === undefined, generation === "infra");
    });

    it("adds rules to a security group and removes them, once each", async () => {
      const { tumblebug, server } = fake;
      const { securityGroups } = tumblebug;
      const [ssh, api] = [22, 6443].map((port) => ({
        direction: "inbound" as const,
        protocol: "tcp" as const,
        ports: [port, port] as [number, number],
        cidr: "192.0.2.0/24",
      }));
      await securityGroups.create("ns1", { name: "g3", connection: CONNECTION, vNet: "v1", rules: [ssh!] });
      server.faults.add({ method: "POST", path: "rules", times: 1, effect: { kind: "lost-reply" } });
      assert.deepEqual((await securityGroups.addRules("ns1", "g3", [ssh!, api!])).rules, [ssh, api]);
      server.faults.add({ method: "DELETE", path: "rules", times: 1, effect: { kind: "refused" } });
      assert.deepEqual((await securityGroups.removeRules("ns1", "g3", [ssh!])).rules, [api]);
      assert.deepEqual((await securityGroups.removeRules("ns1", "g3", [ssh!])).rules, [api]);
      await assert.rejects(securityGroups.addRules("ns1", "none", [ssh!]), { code: "NotFound" });
      await securityGroups.delete("ns1", "g3");
    });

    it("distinguishes a missing object from a failing server", async () => {
      const { tumblebug, server } = fake;
      server.faults.add({
        method: "GET",
        path: "/vNet/",
        times: 1,
        effect: { kind: "status", status: 500, message: "the store is broken" },
      });
      await assert.rejects(tumblebug.vNets.read("ns1", "v1"), {
        code: "Refused",
        remote: "the store is broken",
      });
    });

    it("finds nothing in a missing namespace, and creates nothing in it", async () => {
      const { tumblebug } = fake;
      assert.equal(await tumblebug.vNets.read("ns9", "v1"), undefined);
      assert.deepEqual(await tumblebug.vNets.list("ns9"), []);
      assert.equal(await tumblebug.vNets.delete("ns9", "v1"), false);
      const desired = { name: "k1", connection: CONNECTION, user: "cb-user" };
      await assert.rejects(tumblebug.sshKeys.create("ns9", desired), { code: "NamespaceNotFound" });
    });

    it("passes on the cloud's message, unwrapped", async () => {
      const desired = { name: "t9", connection: CONNECTION, cloudSpec: "t9.nano" };
      await assert.rejects(fake.tumblebug.specs.create("ns1", desired), {
        message:
          generation === "mcis"
            ? /^POST .*\/spec: Tumblebug answered 500: Error duing lookup spec .*t9\.nano VMSpec does not exist!!/
            : /^POST .*\/spec: Tumblebug answered 500: t9\.nano VMSpec does not exist!! \(from .*\)$/,
      });
    });

    const isRefused = generation === "mcis";
    it(`${isRefused ? "refuses" : "deletes"} a vNet that a security group still needs${isRefused ? ", when it has waited for a while" : ", as the server does"}`, async function () {
      this.timeout(40_000);
      const { tumblebug, open } = fake;
      await tumblebug.securityGroups.create("ns1", {
        name: "g4",
        connection: CONNECTION,
        vNet: "v1",
        rules: [],
      });
      const impatient = await open({ seconds: 1 });
      if (isRefused) await assert.rejects(impatient.vNets.delete("ns1", "v1"), { code: "InUse" });
      const deletion = tumblebug.vNets.delete("ns1", "v1");
      await tumblebug.securityGroups.delete("ns1", "g4");
      assert.equal(await deletion, true);
    });

    it("waits for a deletion that continues after its response", async () => {
      const { tumblebug, server } = fake;
      await tumblebug.sshKeys.create("ns1", { name: "k4", connection: CONNECTION, user: "cb-user" });
      server.faults.add({ method: "DELETE", times: 1, effect: { kind: "accepted", milliseconds: 200 } });
      assert.equal(await tumblebug.sshKeys.delete("ns1", "k4"), true);
      assert.equal(await tumblebug.sshKeys.read("ns1", "k4"), undefined);
    });

    it("repeats a deletion that the cloud has not confirmed, until its deadline", async () => {
      const { tumblebug, server, open } = fake;
      await tumblebug.sshKeys.create("ns1", { name: "k5", connection: CONNECTION, user: "cb-user" });
      const unconfirmed = { kind: "status", status: 409, message: "the deletion is unconfirmed" } as const;
      server.faults.add({ method: "DELETE", path: "k5", times: 1, effect: unconfirmed });
      assert.equal(await tumblebug.sshKeys.delete("ns1", "k5"), true);
      await tumblebug.sshKeys.create("ns1", { name: "k5", connection: CONNECTION, user: "cb-user" });
      server.faults.add({ method: "DELETE", path: "k5", effect: unconfirmed });
      const impatient = await open({ seconds: 1 });
      await assert.rejects(impatient.sshKeys.delete("ns1", "k5"), { code: "DeletionPending" });
    });
  });
