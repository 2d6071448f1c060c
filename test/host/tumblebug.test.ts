import assert from "node:assert/strict";
import { securityRules } from "../../core/tumblebug/security-rules";
import type { HandlerKey } from "../../providers/dynamic-resource";
import { makeCompiledClone, removeFolder } from "../engine/compiled-clone";
import { keptOf, ProviderHost } from "./provider-host";
import { CONNECTION, MARK, slot, TumblebugGround, type TestedGeneration } from "./tumblebug-ground";

type Outputs = Record<string, unknown>;

const rulesFor = (ssh: string[]) =>
  securityRules("nodes", {
    ...{ ssh, api: [], nodePorts: [], nodes: ["10.21.3.0/24"], pods: "10.244.0.0/16" },
    ...{ podNetwork: "flannel", overInternet: false },
  });

describe("the resources of Tumblebug, in Pulumi's own process", function () {
  this.timeout(60_000);
  let clone: string;
  let host: ProviderHost;
  before(async () => {
    clone = makeCompiledClone();
    host = await ProviderHost.start(clone);
  });
  after(async () => {
    await host?.stop();
    if (clone) removeFolder(clone);
  });

  /** As the engine does it: check, then create with what check returned. */
  async function create(key: HandlerKey, wish: object): Promise<{ steps: string[]; outputs: Outputs }> {
    const { inputs, refusals } = await host.check(key, {}, wish);
    assert.deepEqual(refusals, []);
    const { outputs } = await host.create(key, inputs);
    return { steps: (inputs.steps ?? []) as string[], outputs };
  }

  for (const generation of ["mcis", "infra"] as TestedGeneration[])
    describe(`against the generation ${generation}`, () => {
      let ground: TumblebugGround;
      before(async () => {
        ground = await TumblebugGround.start(generation);
      });
      after(() => ground.stop());
      afterEach(() => {
        ground.server.faults.clear();
        ground.server.passed.length = 0;
      });

      const kinds: [HandlerKey, string, string, object, string][] = [
        [
          "tumblebug/TumblebugVNet",
          "vNet",
          "k1-vpc",
          { cidr: "10.21.3.0/24", cidrWritten: false, subnet: "k1-subnet" },
          "CreateVpcFailedReason",
        ],
        [
          "tumblebug/TumblebugSecurityGroup",
          "securityGroup",
          "k1-sg",
          { vNet: "k1-vpc", rules: rulesFor(["192.0.2.0/24"]) },
          "CreateSecurityGroupFailedReason",
        ],
        ["tumblebug/TumblebugSshKey", "sshKey", "k1-sshkey", { user: "cb-user" }, "CreateSSHKeyFailedReason"],
        [
          "tumblebug/TumblebugImage",
          "image",
          "k1-image",
          { cloudImage: "debian-12" },
          "CreateVmImageFailedReason",
        ],
        [
          "tumblebug/TumblebugSpec",
          "spec",
          "k1-spec",
          { cloudSpec: "t3.medium" },
          "CreateVmSpecFailedReason",
        ],
      ];
      // the same code serves every kind; today's words are the client's own matter
      const tested =
        generation === "mcis" ? kinds : kinds.filter(([, what]) => ["vNet", "image"].includes(what));
      for (const [key, what, name, own, reason] of tested)
        describe(what, () => {
          const wish = () => ground.object(name, own);
          let made: Outputs;

          it("says the reason and the server's words when it can't be made", async () => {
            const effect = { kind: "status", status: 500, message: "quota of the cloud is used up" } as const;
            ground.server.faults.add({ method: "POST", path: `/resources/${what}`, times: 9, effect });
            await assert.rejects(
              create(key, wish()),
              (error: Error) =>
                error.message.includes(reason) && error.message.includes("quota of the cloud"),
            );
          });

          it("is made once although the answer is lost, and is known as this stack's", async () => {
            const effect = { kind: "lost-reply" } as const;
            ground.server.faults.add({ method: "POST", path: `/resources/${what}`, times: 1, effect });
            const { steps, outputs } = await create(key, wish());
            assert.match(steps.join(), new RegExp(`^create the ${what} ${name} in ${CONNECTION}`));
            assert.equal(outputs.made, true);
            assert.equal(ground.changes().length, 1, ground.changes().join());
            made = outputs;
          });

          it("is found again, and still known as made here, when a run could not record it", async () => {
            const { outputs } = await create(key, wish());
            assert.equal(outputs.made, true);
            assert.deepEqual(ground.changes(), []);
          });

          it("has nothing to do in a second run", async () => {
            const { inputs } = await host.check(key, wish(), wish());
            assert.deepEqual(inputs.steps, []);
            assert.deepEqual(await host.diff(key, made, inputs), { changes: false, replaces: [] });
          });

          it("is read, and known as gone when it is", async () => {
            assert.equal((await host.read(key, made))?.object, made.object);
            assert.equal(await host.read(key, { ...made, object: "nobody" }), undefined);
          });

          it("stays when others made it", async () => {
            const { outputs } = await create(key, { ...wish(), mark: "another", foreign: true });
            assert.equal(outputs.made, false);
            await host.delete(key, outputs);
            await host.delete(key, { ...made, keepOnDelete: true });
            assert.deepEqual(ground.changes(), []);
            assert.ok(await host.read(key, made));
          });
        });

      describe("what changes", () => {
        it("opens and closes the rules of a security group that changed, and no others", async () => {
          const key = "tumblebug/TumblebugSecurityGroup";
          const wish = (ssh: string[]) => ground.object("k1-sg", { vNet: "k1-vpc", rules: rulesFor(ssh) });
          const [olds, news] = [wish(["192.0.2.0/24"]), wish(["198.51.100.0/24"])];
          const { outputs } = await create(key, olds);
          const { inputs } = await host.check(key, olds, news);
          assert.deepEqual(inputs.steps, [
            "k1-sg: open tcp 22 to 198.51.100.0/24 (SSH, by which foresail works)",
            "k1-sg: close tcp 22 to 192.0.2.0/24 (SSH, by which foresail works)",
          ]);
          assert.equal((await host.diff(key, outputs, inputs)).changes, true);
          await host.update(key, outputs, inputs);
          const { text } = await ground.ask("GET", "/ns/ns1/resources/securityGroup/k1-sg");
          assert.match(text, /198\.51\.100\.0\/24/);
          assert.doesNotMatch(text, /192\.0\.2\.0\/24/);
          assert.match(text, /10250/);
        });

        it("never moves a VNet that is there", async () => {
          const key = "tumblebug/TumblebugVNet";
          const olds = ground.object("k1-vpc", {
            ...{ cidr: "10.21.3.0/24", cidrWritten: false, subnet: "k1-subnet" },
          });
          const chosen = await host.check(key, olds, { ...olds, cidr: "10.21.9.0/24" });
          assert.deepEqual([chosen.inputs.cidr, chosen.refusals], ["10.21.3.0/24", []]);
          const written = await host.check(key, olds, { ...olds, cidr: "10.21.9.0/24", cidrWritten: true });
          assert.deepEqual(
            written.refusals.map(({ property }) => property),
            ["cidr"],
          );
        });
      });

      describe("the MCIS", () => {
        const key = "tumblebug/TumblebugMcis";
        const wish = (slots = ["cp-1", "cp-2", "cp-3", "w-1", "w-2"].map((name) => slot(name))) => ({
          ...{ server: ground.access, namespace: "ns1", infrastructure: "k1", mark: MARK, slots },
          objects: {
            [CONNECTION]: { vNet: "k1-vpc", subnet: "k1-subnet", nodes: "k1-sg", sshKey: "k1-sshkey" },
          },
          specs: { [`${CONNECTION} t3.medium`]: "k1-spec" },
          images: { [`${CONNECTION} debian-12`]: generation === "mcis" ? "k1-image" : "debian-12" },
          ...{ user: "cb-user", timeoutSeconds: 15 },
        });
        const recorded = ({ vms, leaving }: Outputs) => ({ recorded: { vms, leaving } });
        let made: Outputs;
        before(async () => {
          for (const [of, , name, own] of kinds) await create(of, ground.object(name, own));
        });

        it("that came back partial fails with every VM's words, and keeps the good ones", async () => {
          const systemMessage = "InsufficientInstanceCapacity: no t3.medium left";
          for (const machine of ["cp-2", "w-2"])
            ground.server.faults.addForMachines({
              machine,
              times: 1,
              effect: { kind: "failed", systemMessage },
            });
          const { inputs } = await host.check(key, {}, wish());
          assert.equal((inputs.steps as string[]).length, 5);
          const error: Error = await host.create(key, inputs).then(
            () => assert.fail("it has to fail"),
            (reason: Error) => reason,
          );
          assert.match(error.message, /CreateMCISFailedReason/);
          assert.match(error.message, /2 of 5 VMs did not come up/);
          assert.match(
            error.message,
            /cp-2: VM cp-2 Failed: InsufficientInstanceCapacity: no t3.medium left/,
          );
          assert.match(error.message, /w-2: VM w-2-1 Failed: InsufficientInstanceCapacity/);
          assert.match(error.message, /up: cp-1, cp-3, w-1/);
          made = keptOf(error)!;
          assert.deepEqual(Object.keys(made.vms as object).sort(), ["cp-1", "cp-3", "w-1"]);
          assert.deepEqual((made.failure as Outputs).reason, "CreateMCISFailedReason");
        });

        it("replaces only the VMs that never came up in the next run", async () => {
          const { inputs, refusals } = await host.check(key, wish(), { ...wish(), ...recorded(made) });
          assert.deepEqual(refusals, []);
          assert.deepEqual(
            (inputs.steps as string[]).map((step) => step.replace(/ \(.*/, "")),
            [
              "cp-2: delete its VM cp-2, which never came up",
              `cp-2: create its VM in ${CONNECTION}`,
              "w-2: delete its VM w-2-1, which never came up",
              `w-2: create its VM in ${CONNECTION}`,
            ],
          );
          const before = made.vms as Record<string, { vm: string }>;
          made = await host.update(key, made, inputs);
          const vms = made.vms as Record<string, { vm: string; publicAddress: string }>;
          assert.deepEqual(Object.keys(vms).sort(), ["cp-1", "cp-2", "cp-3", "w-1", "w-2"]);
          for (const machine of Object.keys(before)) assert.deepEqual(vms[machine], before[machine]);
          assert.ok(Object.values(vms).every(({ publicAddress }) => publicAddress.startsWith("203.")));
          assert.equal(made.failure, undefined);
          assert.equal(ground.changes().length, 4, ground.changes().join());
        });

        it("has nothing to do in a second run, and asks for nothing", async () => {
          const { inputs } = await host.check(key, wish(), { ...wish(), ...recorded(made) });
          assert.deepEqual(inputs.steps, []);
          assert.equal((await host.diff(key, made, inputs)).changes, false);
          assert.deepEqual(ground.changes(), []);
        });

        it("knows its VMs again when no run could record them", async () => {
          const { inputs } = await host.check(key, {}, wish());
          assert.deepEqual(inputs.steps, []);
          const { outputs } = await host.create(key, inputs);
          assert.deepEqual(Object.keys(outputs.vms as object).sort(), ["cp-1", "cp-2", "cp-3", "w-1", "w-2"]);
          assert.deepEqual(ground.changes(), []);
        });

        it("leaves the VM of a machine that is not wanted until the cluster let it go, and then deletes it", async () => {
          const slots = ["cp-1", "cp-2", "cp-3", "w-1", "w-3"].map((name) => slot(name));
          const { inputs } = await host.check(key, wish(), { ...wish(slots), ...recorded(made) });
          assert.deepEqual(inputs.steps, [`w-3: create its VM in ${CONNECTION} (t3.medium, debian-12)`]);
          const leaver = (made.vms as Record<string, { vm: string }>)["w-2"]!.vm;
          made = await host.update(key, made, inputs);
          assert.deepEqual(made.leaving, { "w-2": leaver });
          assert.equal(ground.changes().length, 1, ground.changes().join());

          const removal = "tumblebug/TumblebugVmRemoval";
          const ask = (machines: string[], leaving: object) => ({
            ...{ server: ground.access, namespace: "ns1", infrastructure: "k1", timeoutSeconds: 15 },
            ...{ machines, leaving, left: {} },
          });
          const olds = ask(["cp-1", "cp-2", "cp-3", "w-1", "w-2"], {});
          const news = ask(
            slots.map(({ machine }) => machine),
            made.leaving,
          );
          const checked = await host.check(removal, olds, news);
          assert.deepEqual(checked.inputs.steps, [
            `w-2: delete its VM ${leaver}, now that it has left the cluster`,
          ]);
          ground.server.passed.length = 0;
          const outputs = await host.update(removal, { ...olds, left: {} }, checked.inputs);
          assert.deepEqual(outputs.left, {});
          assert.equal(ground.changes().length, 1, ground.changes().join());
          const again = await host.check(removal, checked.inputs, news);
          assert.deepEqual(again.inputs.steps, []);
        });

        it("refuses to make a lost machine anew under the same name, and says what to do", async () => {
          const { vm } = (made.vms as Record<string, { vm: string }>)["w-1"]!;
          const place = generation === "mcis" ? `/ns/ns1/mcis/k1/vm/${vm}` : `/ns/ns1/infra/k1/node/${vm}`;
          await ground.ask("DELETE", place);
          const slots = ["cp-1", "cp-2", "cp-3", "w-1", "w-3"].map((name) => slot(name));
          const { refusals } = await host.check(key, wish(slots), { ...wish(slots), ...recorded(made) });
          assert.match(
            refusals[0]?.reason ?? "",
            /w-1: its VM .* is lost .*`tumblebug.replace`.*`tumblebug.lost`/,
          );
        });

        // what waits is the same code in both generations
        if (generation === "mcis")
          it("whose VM hangs ends with the VM's name, and goes on when it has come up", async () => {
            const effect = { kind: "late-address", milliseconds: 4000 } as const;
            ground.server.faults.addForMachines({ machine: "late", times: 1, effect });
            const asked = { ...wish([slot("late-1")]), infrastructure: "k3", timeoutSeconds: 2 };
            const { inputs } = await host.check(key, {}, asked);
            const error: Error = await host.create(key, inputs).then(
              () => assert.fail("it has to fail"),
              (reason: Error) => reason,
            );
            assert.match(
              error.message,
              /waited 2 s for the VMs of the MCIS k3 to come up; last seen: late-1-1/,
            );
            const kept = keptOf(error)!;
            const next = { ...asked, timeoutSeconds: 15 };
            const again = await host.check(key, asked, { ...next, ...recorded(kept) });
            assert.deepEqual(again.inputs.steps, []);
            assert.equal((await host.diff(key, kept, again.inputs)).changes, true);
            ground.server.passed.length = 0;
            const done = await host.update(key, kept, again.inputs);
            assert.deepEqual(Object.keys(done.vms as object), ["late-1"]);
            assert.deepEqual(ground.changes(), []);
            await host.delete(key, done);
          });

        // the older generation says 201 to that, as to a part
        if (generation === "infra")
          it("of which nothing came up is kept and made anew in the next run", async () => {
            const effect = { kind: "failed", systemMessage: "quota exceeded" } as const;
            ground.server.faults.addForMachines({ machine: "none", times: 1, effect });
            const asked = { ...wish([slot("none-1")]), infrastructure: "k4" };
            const { inputs } = await host.check(key, {}, asked);
            const error: Error = await host.create(key, inputs).then(
              () => assert.fail("it has to fail"),
              (reason: Error) => reason,
            );
            assert.match(error.message, /none-1: VM none-1-1 Failed: .*quota exceeded/);
            const kept = keptOf(error)!;
            const again = await host.check(key, asked, { ...asked, ...recorded(kept) });
            const done = await host.update(key, kept, again.inputs);
            assert.deepEqual(Object.keys(done.vms as object), ["none-1"]);
            await host.delete(key, done);
          });

        it("has a load balancer in front of its control planes, which is made once", async () => {
          const balancer = "tumblebug/TumblebugLoadBalancer";
          const asked = {
            ...{ server: ground.access, namespace: "ns1", infrastructure: "k1", group: "cp" },
            ...{ port: 6443, targetPort: 6443, machines: ["cp-1", "cp-2", "cp-3"], timeoutSeconds: 15 },
          };
          const refusal = { kind: "status", status: 500, message: "no address left" } as const;
          ground.server.faults.add({ method: "POST", path: "/nlb", times: 1, effect: refusal });
          await assert.rejects(create(balancer, asked), /CreateNLBFailedReason.*no address left/);
          ground.server.passed.length = 0;
          ground.server.faults.add({
            method: "POST",
            path: "/nlb",
            times: 1,
            effect: { kind: "lost-reply" },
          });
          const { steps, outputs } = await create(balancer, asked);
          assert.deepEqual(steps, ["create a load balancer on port 6443 in front of cp-1, cp-2, cp-3"]);
          assert.match(String(outputs.address), /^127\./);
          assert.equal(ground.changes().length, 1, ground.changes().join());
          const { refusals } = await host.check(balancer, asked, { ...asked, machines: ["cp-1"] });
          assert.match(refusals[0]?.reason ?? "", /keeps the machines that it was made with/);
          assert.equal((await host.read(balancer, outputs))?.address, outputs.address);
          await host.delete(balancer, outputs);
          assert.equal(await host.read(balancer, outputs), undefined);
        });

        it("of others is never touched", async () => {
          const { inputs } = await host.check(key, {}, { ...wish(), mark: "another" });
          await assert.rejects(host.create(key, inputs), /AlreadyExistMCISFailedReason/);
          assert.deepEqual(ground.changes(), []);
        });

        it("is terminated and deleted, and leaves no VM", async () => {
          await host.delete(key, made);
          assert.equal(ground.machines.count, 0);
          assert.equal(await host.read(key, made).then((props) => typeof props), "object");
          await host.delete(key, made);
        });
      });

      describe("what goes", () => {
        it("deletes what this stack made, and takes what is gone already for deleted", async () => {
          for (const [key, what, name, own] of [...kinds].reverse()) {
            const { outputs } = await create(key, ground.object(name, own));
            await host.delete(key, outputs);
            await host.delete(key, outputs);
            assert.equal(await host.read(key, outputs), undefined, what);
          }
        });
      });
    });
});
