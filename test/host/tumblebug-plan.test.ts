import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Slot } from "../../providers/tumblebug/plan/groups";
import { leaveOut } from "../left-out";
import { CONNECTION, describeGenerations, MARK, slot } from "./tumblebug-fixture";

type Fields = Record<string, unknown>;

describeGenerations(
  "checks of Tumblebug's server before anything is created, in Pulumi's own process",
  (generation) => `against the generation ${generation}`,
  (running, generation) => {
    const key = "tumblebug/TumblebugPlan";

    const names = (connection = CONNECTION) => ({
      vNets: [{ name: "k1-vpc", connection }],
      securityGroups: [{ name: "k1-sg", connection }],
      sshKeys: [{ name: "k1-sshkey", connection }],
      images: [{ name: "k1-image", connection, cloudImage: "debian-12" }],
      specs: [{ name: "k1-spec", connection }],
    });
    const desired = (over: Fields = {}): Fields => ({
      ...{ server: running.fixture.access, namespace: "ns1", createNamespace: false, infrastructure: "k1" },
      connections: [{ name: CONNECTION, vNet: "k1-vpc", cidr: "10.21.3.0/24" }],
      slots: [slot("cp-1"), slot("w-1")],
      ...{ loadBalancer: false, allowMock: false, objects: names() },
      ...{ steps: [], leaving: [], later: [], remarks: [] },
      ...over,
    });
    const of = (over: Partial<Slot>): Fields => ({ slots: [slot("cp-1", over)] });
    const connected = (name: string): Fields => ({
      ...of({ connection: name }),
      connections: [{ name, vNet: "k1-vpc", cidr: "10.21.3.0/24" }],
      objects: names(name),
    });
    const elsewhere = (credentials: object): Fields => ({
      server: { ...(running.fixture.access as Fields), credentials },
    });

    const refused: [what: string, over: () => Fields, property: string, words: RegExp][] = [
      ["no namespace", () => ({ namespace: "unknown" }), "namespace", /no namespace "unknown"/],
      [
        "no connection",
        () => connected("aws-nowhere"),
        "connections.aws-nowhere",
        /no connection "aws-nowhere".*GetControlPlaneConnectionInfoFailedReason/,
      ],
      ["a simulated cloud", () => connected("mock-default"), "connections.mock-default", /simulated cloud/],
      ["no machine type", () => of({ spec: "t9.none" }), "groups.cp.spec", /no machine type "t9.none"/],
      ["no image", () => of({ image: "debian-1" }), "groups.cp.image", /has no image "debian-1"/],
      ["too few cores", () => of({ spec: "one-vcpu" }), "groups.cp.spec", /1 vCPU.*InvalidMCIRReason/],
      ["too little memory", () => of({ spec: "one-gibibyte" }), "groups.cp.spec", /1024 MiB/],
      [
        "a wrong password",
        () => elsewhere({ username: "default", password: "wrong" }),
        "address",
        /401.*\n *next: check the user name and password/,
      ],
    ];
    for (const [what, over, property, words] of refused)
      it(`refuses ${what}, with the path and what to do`, async () => {
        const { refusals } = await running.host.check(key, {}, desired(over()));
        assert.deepEqual([...new Set(refusals.map((one) => one.property))], [`tumblebug.${property}`]);
        assert.match(refusals[0]!.reason, words);
        assert.ok(!JSON.stringify(refusals).includes("secret-word"));
      });

    it("refuses a server of a release that it does not support, by what its answers have", async () => {
      running.fixture.server.faults.isOfRefusedRelease = true;
      const access = running.fixture.access as { address: string };
      // another address, since a server does not change its release within a run
      const server = { ...access, address: access.address.replace("127.0.0.1", "localhost") };
      const { refusals } = await running.host.check(key, {}, desired({ server }));
      assert.deepEqual(
        refusals.map(({ property }) => property),
        ["tumblebug.address"],
      );
      const { reason = "" } = refusals[0] ?? {};
      const [field, releases] =
        generation === "mcis" ? ["providerName", "0.8.8 to 0.9.4"] : ["cspImageName", "0.12.6 to 0.12.8"];
      assert.match(
        reason,
        new RegExp(`${field}.*releases ${releases}.*use a server of release 0.7.0 or 0.13.0`),
      );
    });

    it("reads the server's description of its API once in a run", async function () {
      if (generation === "mcis") leaveOut(this, "its releases are told by connections");
      const read = () => running.fixture.server.passed.filter(({ path }) => path === "/api/doc.json").length;
      await running.host.check(key, {}, desired());
      running.fixture.server.passed.length = 0;
      await running.host.check(key, {}, desired({ loadBalancer: true }));
      await running.host.check(key, {}, desired());
      assert.equal(read(), 0);
    });

    it("does not ask for machine types and images of machines that an earlier run had", async () => {
      const olds = await running.host.check(key, {}, desired());
      const withdrawn = slot("w-1", { image: "withdrawn", spec: "t1.old" });
      const recorded = { ...olds.inputs, slots: [slot("cp-1"), withdrawn] };
      const more = { slots: [slot("cp-1"), withdrawn, slot("w-2")] };
      assert.deepEqual((await running.host.check(key, recorded, desired(more))).refusals, []);
    });

    it("does not follow a server that redirects to another one, and shows nothing raw of it", async () => {
      const { address } = running.fixture.access as { address: string };
      const escapes = "\u009b2J\u202e::error::";
      const server = createServer((_request, response) => {
        response.writeHead(307, { location: Buffer.from(`${address}/${escapes}`).toString("latin1") }).end();
      }).listen(0, "127.0.0.1");
      await once(server, "listening");
      const { port } = server.address() as AddressInfo;
      const redirecting = {
        ...(running.fixture.access as Fields),
        address: `http://127.0.0.1:${port}/tumblebug`,
      };
      const { refusals } = await running.host.check(key, {}, desired({ server: redirecting }));
      server.close();
      assert.match(refusals[0]?.reason ?? "", /answered 307: redirects to .*\n *next: .*follows no redirect/);
      assert.doesNotMatch(refusals[0]!.reason, /[\u0080-\u009f\u202e]/);
      assert.deepEqual(running.fixture.server.passed, []);
    });

    it("reports that CB-Spider is down, and not that a machine type is missing", async () => {
      const text = "an error occurred while requesting to CB-Spider";
      const effect = { kind: "status", status: 404, text } as const;
      running.fixture.server.faults.add({ method: "POST", path: "/lookupSpec", effect });
      const { refusals } = await running.host.check(key, {}, desired());
      assert.match(refusals[0]?.reason ?? "", /start the CB-Spider/);
    });

    it("reports an MCIS that can't be read, and a region that is missing, by their own codes", async () => {
      const path = generation === "mcis" ? "/ns/ns1/mcis" : "/ns/ns1/infra";
      const broken = { kind: "status", status: 500, message: "the store is broken" } as const;
      running.fixture.server.faults.add({ method: "GET", path, effect: broken });
      // today's server also says by status 500 that there is none, and is asked about that then
      running.fixture.server.faults.add({ method: "GET", path: "/ns/ns1/checkInfra", effect: broken });
      const unread = await running.host.check(key, {}, desired());
      assert.match(unread.refusals[0]?.reason ?? "", /the store is broken \(GetMCISFailedReason\)\n *next:/);
      running.fixture.server.faults.clear();
      if (generation === "infra") return;
      const gone = { kind: "status", status: 404, message: "The region does not exist" } as const;
      running.fixture.server.faults.add({ method: "GET", path: "/region", effect: gone });
      const { refusals } = await running.host.check(key, {}, desired());
      assert.deepEqual(
        refusals.map(({ property }) => property),
        [`tumblebug.connections.${CONNECTION}`],
      );
      assert.match(
        refusals[0]!.reason,
        /the server has no region .*; register it there \(InvalidMCIRReason\)$/,
      );
    });

    it("waits for a server that is busy for a moment", async () => {
      const effect = { kind: "status", status: 429, message: "rate limit exceeded" } as const;
      running.fixture.server.faults.add({ method: "GET", path: "/connConfig", times: 1, effect });
      assert.deepEqual((await running.host.check(key, {}, desired())).refusals, []);
    });

    it("detects the generation, the clouds of the connections, and objects of others", async () => {
      const made = await running.fixture.ask("POST", "/ns/ns1/resources/sshKey", {
        ...{ name: "k1-sshkey", connectionName: CONNECTION, username: "cb-user" },
      });
      assert.ok(made.status < 300, made.text);
      const { inputs, refusals } = await running.host.check(key, {}, desired());
      assert.deepEqual(refusals, []);
      assert.deepEqual(inputs.found, {
        generation,
        connections: {
          [CONNECTION]: { provider: "aws", region: "ap-northeast-2", zone: "ap-northeast-2a" },
        },
        foreign: ["sshKeys/k1-sshkey"],
        namespaceIsForeign: true,
      });
      assert.deepEqual(inputs.spread, ["aws ap-northeast-2 ap-northeast-2a: cp-1, w-1"]);
      assert.deepEqual(
        running.fixture.changes().filter((line) => !line.includes("/lookup")),
        ["POST /ns/ns1/resources/sshKey"],
      );
    });

    it("sends few requests when the spec is the same, and has nothing to do", async () => {
      const first = await running.host.check(key, {}, desired());
      const { outputs } = await running.host.create(key, first.inputs);
      running.fixture.server.passed.length = 0;
      const second = await running.host.check(key, first.inputs, { ...desired(), mark: outputs.mark });
      assert.deepEqual(second.inputs.found, first.inputs.found);
      assert.equal((await running.host.diff(key, outputs, second.inputs)).changes, false);
      // the generation, the namespace and the MCIS, and what today's server needs to say that one is not there
      assert.ok(running.fixture.server.passed.length <= 6, JSON.stringify(running.fixture.server.passed));
    });

    // the client waits for the server as long as a preview may; one test is enough
    if (generation === "mcis")
      it("reports that nothing was checked when a server that was read before does not answer", async () => {
        const { inputs } = await running.host.check(key, {}, desired());
        const server = {
          ...(running.fixture.access as Fields),
          address: "http://127.0.0.1:9/tumblebug",
          generation,
        };
        const again = await running.host.check(key, inputs, desired({ server }));
        assert.deepEqual([again.refusals, again.inputs.found], [[], inputs.found]);
        assert.match(running.host.printed, /could not be read, so nothing of it was checked/);
      });

    it("recognizes a spec, whose description the server drops, by the record of an earlier run", async () => {
      const foreign = async (olds: Fields, over: Fields = {}) => {
        const { inputs } = await running.host.check(key, olds, desired(over));
        return (inputs.found as { foreign: string[] }).foreign.filter((one) => one.startsWith("specs/"));
      };
      const { inputs: first } = await running.host.check(key, {}, desired());
      const body = { name: "k1-spec", connectionName: CONNECTION, cspSpecName: "t3.medium" };
      const made = await running.fixture.ask("POST", "/ns/ns1/resources/spec", {
        ...body,
        description: `foresail ${MARK}`,
      });
      assert.ok(made.status < 300, made.text);
      // killed before the spec was recorded, then the same, or more machines
      assert.deepEqual(await foreign(first), []);
      assert.deepEqual(await foreign(first, { slots: [slot("cp-1"), slot("w-1"), slot("w-2")] }), []);
      assert.deepEqual(await foreign({}), ["specs/k1-spec"]);
      const { inputs: late } = await running.host.check(key, {}, desired());
      assert.deepEqual(await foreign(late, { slots: [slot("cp-1")] }), ["specs/k1-spec"]);
    });

    it("refuses an MCIS of others, and recognizes the stack's own by its label", async () => {
      const mcis = (description: string) =>
        generation === "mcis"
          ? running.fixture.ask("POST", "/ns/ns1/mcis", {
              name: "k2",
              description,
              installMonAgent: "no",
              vm: [],
            })
          : running.fixture.ask("POST", "/ns/ns1/infra", { name: "k2", description, nodeGroups: [] });
      await mcis(`foresail ${MARK}`);
      const own = await running.host.check(key, {}, desired({ infrastructure: "k2", mark: MARK }));
      assert.deepEqual(own.refusals, []);
      const others = await running.host.check(key, {}, desired({ infrastructure: "k2" }));
      assert.match(others.refusals[0]?.reason ?? "", /AlreadyExistMCISFailedReason/);
    });

    it("creates a namespace unless it exists, and deletes only its own", async () => {
      const namespace = "tumblebug/TumblebugNamespace";
      const ask = (name: string) => ({
        ...(running.fixture.object(name) as Fields),
        foreign: name === "ns1",
      });
      for (const [name, made] of [
        ["ns2", true],
        ["ns1", false],
      ] as const) {
        const { inputs } = await running.host.check(namespace, {}, ask(name));
        const { outputs } = await running.host.create(namespace, inputs);
        assert.equal(outputs.made, made);
        await running.host.delete(namespace, outputs);
        assert.equal((await running.host.read(namespace, outputs)) === undefined, made);
      }
    });
  },
);
