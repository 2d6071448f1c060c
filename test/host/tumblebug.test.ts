import assert from "node:assert/strict";
import type { FirewallRule } from "../../providers/tumblebug/plan/model";
import { CONNECTION, createOn, describeGenerations, OBJECTS, rulesFor } from "./tumblebug-fixture";
import { tumblebugObjectSteps } from "../../providers/tumblebug/plan/steps";
import { stepsOfKind } from "../support/steps";

type Outputs = Record<string, unknown>;

describeGenerations(
  "the resources of Tumblebug, in Pulumi's own process",
  (generation) => `against the generation ${generation}`,
  (running, generation) => {
    // the same code serves every kind; the newer generation's messages are tested with the client
    const tested =
      generation === "mcis" ? OBJECTS : OBJECTS.filter(([, what]) => ["vNet", "spec"].includes(what));
    for (const [key, what, name, own, reason] of tested)
      describe(what, () => {
        const desired = () => running.fixture.object(name, own);
        let made: Outputs;

        it("reports the reason and the server's message when it can't be created", async () => {
          const effect = { kind: "status", status: 500, message: "quota of the cloud is used up" } as const;
          running.fixture.server.faults.add({ method: "POST", path: `/resources/${what}`, times: 9, effect });
          await assert.rejects(
            createOn(running.host, key, desired()),
            (error: Error) => error.message.includes(reason) && error.message.includes("quota of the cloud"),
          );
        });

        it("is created once although the response is lost, and is recognized as this stack's", async () => {
          const effect = { kind: "lost-reply" } as const;
          running.fixture.server.faults.add({ method: "POST", path: `/resources/${what}`, times: 1, effect });
          const { steps, outputs } = await createOn(running.host, key, desired());
          const [create] = stepsOfKind(tumblebugObjectSteps, "create", steps.slice(0, 1));
          assert.deepEqual([create?.what, create?.name, create?.connection], [what, name, CONNECTION]);
          assert.equal(outputs.made, true);
          assert.equal(running.fixture.changes().length, 1, running.fixture.changes().join());
          made = outputs;
        });

        it("is found again, and recognized as this stack's, when a run could not record it", async () => {
          const { outputs } = await createOn(running.host, key, desired());
          assert.equal(outputs.made, true);
          assert.deepEqual(running.fixture.changes(), []);
        });

        it("has nothing to do in a second run", async () => {
          const { inputs } = await running.host.check(key, desired(), desired());
          assert.deepEqual(inputs.steps, []);
          assert.deepEqual(await running.host.diff(key, made, inputs), { changes: false, replaces: [] });
        });

        if (what === "spec")
          it("is not taken for this stack's own when it is another machine type", async () => {
            const other = { ...desired(), cloudSpec: "t3.large" };
            await assert.rejects(
              createOn(running.host, key, other),
              /this stack did not create it, and it is "t3.medium" in the/,
            );
          });

        it("is read, and reported as gone when it is", async () => {
          assert.equal((await running.host.read(key, made))?.object, made.object);
          assert.equal(await running.host.read(key, { ...made, object: "unknown" }), undefined);
        });

        it("is kept when others created it", async () => {
          const { outputs } = await createOn(running.host, key, {
            ...desired(),
            mark: "another",
            foreign: true,
          });
          assert.equal(outputs.made, false);
          await running.host.delete(key, outputs);
          await running.host.delete(key, { ...made, keepOnDelete: true });
          assert.deepEqual(running.fixture.changes(), []);
          assert.ok(await running.host.read(key, made));
        });
      });

    describe("what changes", () => {
      it("opens and closes the rules of a security group that changed, and no others", async () => {
        const key = "tumblebug/TumblebugSecurityGroup";
        const desired = (ssh: string[]) =>
          running.fixture.object("k1-sg", { vNet: "k1-vpc", rules: rulesFor(ssh) });
        const [olds, news] = [desired(["192.0.2.0/24"]), desired(["198.51.100.0/24"])];
        const { outputs } = await createOn(running.host, key, olds);
        const { inputs } = await running.host.check(key, olds, news);
        assert.deepEqual(inputs.steps, [
          "k1-sg: open tcp 22 to 198.51.100.0/24 (SSH, by which foresail works)",
          "k1-sg: close tcp 22 to 192.0.2.0/24 (SSH, by which foresail works)",
        ]);
        assert.equal((await running.host.diff(key, outputs, inputs)).changes, true);
        await running.host.update(key, outputs, inputs);
        const { text } = await running.fixture.ask("GET", "/ns/ns1/resources/securityGroup/k1-sg");
        assert.match(text, /198\.51\.100\.0\/24/);
        assert.doesNotMatch(text, /192\.0\.2\.0\/24/);
        assert.match(text, /10250/);
      });

      it("reopens a rule that someone has removed, after a refresh that noticed it", async () => {
        const key = "tumblebug/TumblebugSecurityGroup";
        const desired = running.fixture.object("k9-sg", {
          vNet: "k1-vpc",
          rules: rulesFor(["192.0.2.0/24"]),
        });
        const { outputs } = await createOn(running.host, key, desired);
        assert.deepEqual((await running.host.read(key, outputs))?.gone, []);
        const ssh = (outputs.there as FirewallRule[]).find(({ ports = [] }) => ports[0] === 22);
        await running.fixture.withServer(({ securityGroups }) =>
          securityGroups.removeRules("ns1", "k9-sg", [ssh!]),
        );
        const seen = (await running.host.read(key, outputs))!;
        assert.deepEqual(seen.gone, [ssh]);
        const { inputs } = await running.host.check(key, desired, { ...desired, gone: seen.gone });
        assert.deepEqual(inputs.steps, [
          "k9-sg: reopen tcp 22 to 192.0.2.0/24 (SSH, by which foresail works), which was closed outside foresail",
        ]);
        const fixed = await running.host.update(key, seen, inputs);
        assert.deepEqual((await running.host.read(key, fixed))?.gone, []);
        assert.deepEqual((await running.host.check(key, inputs, desired)).inputs.steps, []);
        await running.host.delete(key, fixed);
      });

      it("never changes an existing VNet", async () => {
        const key = "tumblebug/TumblebugVNet";
        const olds = running.fixture.object("k1-vpc", {
          ...{ cidr: "10.21.3.0/24", cidrWritten: false, subnet: "k1-subnet" },
        });
        const chosen = await running.host.check(key, olds, { ...olds, cidr: "10.21.9.0/24" });
        assert.deepEqual([chosen.inputs.cidr, chosen.refusals], ["10.21.3.0/24", []]);
        const written = await running.host.check(key, olds, {
          ...olds,
          cidr: "10.21.9.0/24",
          cidrWritten: true,
        });
        assert.deepEqual(
          written.refusals.map(({ property }) => property),
          ["cidr"],
        );
      });
    });

    if (generation === "infra")
      describe("an image", () => {
        const key = "tumblebug/TumblebugImage";
        const desired = () => running.fixture.object("k1-image", { cloudImage: "debian-12" });

        it("is named, and nothing is registered", async () => {
          const { steps, outputs } = await createOn(running.host, key, desired());
          assert.deepEqual(steps, [
            `use the image debian-12 of ${CONNECTION} by its name; nothing is registered`,
          ]);
          assert.deepEqual([outputs.object, outputs.made], ["debian-12", false]);
          assert.deepEqual((await running.host.read(key, outputs))?.object, "debian-12");
          await running.host.delete(key, outputs);
          assert.deepEqual(running.fixture.server.passed, []);
        });

        it("that an earlier version registered changes nothing, and is not deleted", async () => {
          const olds = { ...desired(), object: "debian-12", made: true };
          const { inputs } = await running.host.check(key, olds, desired());
          assert.deepEqual(inputs.steps, []);
          assert.deepEqual(await running.host.diff(key, olds, inputs), { changes: false, replaces: [] });
          const { __provider, ...read } = (await running.host.read(key, olds))!;
          assert.ok(__provider);
          assert.deepEqual(read, olds);
          await running.host.delete(key, olds);
          assert.deepEqual(running.fixture.server.passed, []);
        });
      });

    describe("what is deleted", () => {
      it("deletes what this stack created, and treats missing objects as deleted", async () => {
        for (const [key, what, name, own] of [...OBJECTS].reverse()) {
          if (what === "image" && generation === "infra") continue;
          const { outputs } = await createOn(running.host, key, running.fixture.object(name, own));
          await running.host.delete(key, outputs);
          await running.host.delete(key, outputs);
          assert.equal(await running.host.read(key, outputs), undefined, what);
        }
      });

      for (const what of ["vNet", "securityGroup", "sshKey"] as const)
        it(`deletes the record of a ${what} that the cloud no longer has, by force`, async () => {
          const [key, , name, own] = OBJECTS.find(([, kind]) => kind === what)!;
          for (const [needed, kind, its, fields] of OBJECTS)
            if (kind === "vNet" && kind !== what)
              await createOn(running.host, needed, running.fixture.object(its, fields));
          const { outputs } = await createOn(running.host, key, running.fixture.object(name, own));
          const gone = { namespace: "ns1", kind: what, id: name, isRecorded: true };
          await running.fixture.ask("POST", "/sandbox/vanish", gone);
          running.fixture.server.passed.length = 0;
          await running.host.delete(key, outputs);
          assert.equal(await running.host.read(key, outputs), undefined);
          assert.equal(running.fixture.changes().length, 2, running.fixture.changes().join());
        });
    });
  },
);
