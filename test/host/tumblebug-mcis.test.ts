import assert from "node:assert/strict";
import { keptOf } from "./provider-host";
import { CONNECTION, createOn, describeGenerations, OBJECTS, slot } from "./tumblebug-fixture";

type Outputs = Record<string, unknown>;

describeGenerations(
  "the VMs that Tumblebug creates, in Pulumi's own process",
  (generation) => `the MCIS of the generation ${generation}`,
  (running, generation) => {
    const key = "tumblebug/TumblebugMcis";
    const desired = (slots = ["cp-1", "cp-2", "cp-3", "w-1", "w-2"].map((name) => slot(name))) =>
      running.fixture.mcis("k1", slots);
    const recorded = ({ vms, leaving }: Outputs) => ({ recorded: { vms, leaving } });
    let made: Outputs;
    before(async () => {
      for (const [of, , name, own] of OBJECTS)
        await createOn(running.host, of, running.fixture.object(name, own));
    });

    it("that is partial fails with every VM's error, and keeps the running ones", async () => {
      const systemMessage = "InsufficientInstanceCapacity: no t3.medium left";
      for (const machine of ["cp-2", "w-2"])
        running.fixture.server.faults.addForMachines({
          machine,
          times: 1,
          effect: { kind: "failed", systemMessage },
        });
      const { inputs } = await running.host.check(key, {}, desired());
      assert.equal((inputs.steps as string[]).length, 5);
      const error: Error = await running.host.create(key, inputs).then(
        () => assert.fail("it has to fail"),
        (reason: Error) => reason,
      );
      assert.match(error.message, /CreateMCISFailedReason/);
      assert.match(error.message, /2 of 5 VMs did not come up/);
      assert.match(error.message, /cp-2: VM cp-2 Failed: InsufficientInstanceCapacity: no t3.medium left/);
      assert.match(error.message, /w-2: VM w-2-1 Failed: InsufficientInstanceCapacity/);
      assert.match(error.message, /up: cp-1, cp-3, w-1/);
      made = keptOf(error)!;
      assert.deepEqual(Object.keys(made.vms as object).sort(), ["cp-1", "cp-3", "w-1"]);
      assert.deepEqual((made.failure as Outputs).reason, "CreateMCISFailedReason");
    });

    it("replaces only the VMs that never came up in the next run", async () => {
      const { inputs, refusals } = await running.host.check(key, desired(), {
        ...desired(),
        ...recorded(made),
      });
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
      made = await running.host.update(key, made, inputs);
      const vms = made.vms as Record<string, { vm: string; publicAddress: string }>;
      assert.deepEqual(Object.keys(vms).sort(), ["cp-1", "cp-2", "cp-3", "w-1", "w-2"]);
      for (const machine of Object.keys(before)) assert.deepEqual(vms[machine], before[machine]);
      assert.ok(Object.values(vms).every(({ publicAddress }) => publicAddress.startsWith("203.")));
      assert.equal(made.failure, undefined);
      assert.equal(running.fixture.changes().length, 4, running.fixture.changes().join());
    });

    it("has nothing to do in a second run, and requests nothing", async () => {
      const { inputs } = await running.host.check(key, desired(), { ...desired(), ...recorded(made) });
      assert.deepEqual(inputs.steps, []);
      assert.equal((await running.host.diff(key, made, inputs)).changes, false);
      assert.deepEqual(running.fixture.changes(), []);
    });

    it("recognizes its VMs when no run could record them", async () => {
      const { inputs } = await running.host.check(key, {}, desired());
      assert.deepEqual(inputs.steps, []);
      const { outputs } = await running.host.create(key, inputs);
      assert.deepEqual(Object.keys(outputs.vms as object).sort(), ["cp-1", "cp-2", "cp-3", "w-1", "w-2"]);
      assert.deepEqual(running.fixture.changes(), []);
    });

    it("fails a refresh when another stack has made one of its name, whose VMs it would take for its own", async () => {
      await assert.rejects(
        running.host.read(key, { ...made, mark: "ba9876543210" }),
        /has an MCIS k1 that this stack did not create.*it belongs to another stack of foresail/s,
      );
    });

    it("keeps the VM of a removed machine until it has left the cluster, and then deletes it", async () => {
      const slots = ["cp-1", "cp-2", "cp-3", "w-1", "w-3"].map((name) => slot(name));
      const { inputs } = await running.host.check(key, desired(), { ...desired(slots), ...recorded(made) });
      assert.deepEqual(inputs.steps, [`w-3: create its VM in ${CONNECTION} (t3.medium, debian-12)`]);
      const leaver = (made.vms as Record<string, { vm: string }>)["w-2"]!.vm;
      made = await running.host.update(key, made, inputs);
      assert.deepEqual(made.leaving, { "w-2": leaver });
      assert.equal(running.fixture.changes().length, 1, running.fixture.changes().join());

      const holder = "tumblebug/TumblebugVm";
      const { outputs } = await createOn(running.host, holder, {
        ...{ server: running.fixture.access, namespace: "ns1", infrastructure: "k1", timeoutSeconds: 15 },
        ...{ machine: "w-2", vm: leaver },
      });
      running.fixture.server.passed.length = 0;
      await running.host.delete(holder, outputs);
      assert.equal(running.fixture.changes().length, 1, running.fixture.changes().join());
      await running.host.delete(holder, outputs);
    });

    it("refuses to recreate a lost machine under the same name, and says what to do", async () => {
      const { vm } = (made.vms as Record<string, { vm: string }>)["w-1"]!;
      const ref = generation === "mcis" ? `/ns/ns1/mcis/k1/vm/${vm}` : `/ns/ns1/infra/k1/node/${vm}`;
      await running.fixture.ask("DELETE", ref);
      const slots = ["cp-1", "cp-2", "cp-3", "w-1", "w-3"].map((name) => slot(name));
      const { refusals } = await running.host.check(key, desired(slots), {
        ...desired(slots),
        ...recorded(made),
      });
      assert.match(
        refusals[0]?.reason ?? "",
        /w-1: its VM .* is lost .*`tumblebug.replace`.*`tumblebug.lost`/,
      );
    });

    // the waiting code is the same for both generations
    if (generation === "mcis")
      it("whose VM hangs fails with the VM's name, and continues when it has come up", async () => {
        const effect = { kind: "late-address", milliseconds: 4000 } as const;
        running.fixture.server.faults.addForMachines({ machine: "late", times: 1, effect });
        const asked = { ...desired([slot("late-1")]), infrastructure: "k3", timeoutSeconds: 2 };
        const { inputs } = await running.host.check(key, {}, asked);
        const error: Error = await running.host.create(key, inputs).then(
          () => assert.fail("it has to fail"),
          (reason: Error) => reason,
        );
        assert.match(error.message, /waited 2 s for the VMs of the MCIS k3 to come up; last seen: late-1-1/);
        const kept = keptOf(error)!;
        const next = { ...asked, timeoutSeconds: 15 };
        const again = await running.host.check(key, asked, { ...next, ...recorded(kept) });
        assert.deepEqual(again.inputs.steps, []);
        assert.equal((await running.host.diff(key, kept, again.inputs)).changes, true);
        running.fixture.server.passed.length = 0;
        const done = await running.host.update(key, kept, again.inputs);
        assert.deepEqual(Object.keys(done.vms as object), ["late-1"]);
        assert.deepEqual(running.fixture.changes(), []);
        await running.host.delete(key, done);
      });

    // the older generation answers 201 to that, as to a partial success
    if (generation === "infra")
      it("of which nothing came up is kept and created again in the next run", async () => {
        const effect = { kind: "failed", systemMessage: "quota exceeded" } as const;
        running.fixture.server.faults.addForMachines({ machine: "none", times: 1, effect });
        const asked = { ...desired([slot("none-1")]), infrastructure: "k4" };
        const { inputs } = await running.host.check(key, {}, asked);
        const error: Error = await running.host.create(key, inputs).then(
          () => assert.fail("it has to fail"),
          (reason: Error) => reason,
        );
        assert.match(error.message, /none-1: VM none-1-1 Failed: .*quota exceeded/);
        const kept = keptOf(error)!;
        const again = await running.host.check(key, asked, { ...asked, ...recorded(kept) });
        const done = await running.host.update(key, kept, again.inputs);
        assert.deepEqual(Object.keys(done.vms as object), ["none-1"]);
        await running.host.delete(key, done);
      });

    it("deletes what no machine has: a VM of a killed run, a failed one of a removed group, one that never starts", async () => {
      const { faults } = running.fixture.server;
      const asked = { ...desired([slot("w-1")]), infrastructure: "k5", timeoutSeconds: 5 };
      const first = await createOn(running.host, key, asked);
      const effect = { kind: "failed", systemMessage: "no room" } as const;
      faults.addForMachines({ machine: "gone-1", times: 1, effect });
      faults.addForMachines({ machine: "(w-2|lost-1)-1", times: 2, effect: { kind: "stuck-creating" } });
      const wanted = ["w-1", "w-2", "w-9", "gone-1", "lost-1"].map((name) => slot(name));
      // a run that does not end, so that the state has nothing of it
      const killed = await running.host.check(key, asked, {
        ...asked,
        slots: wanted,
        ...recorded(first.outputs),
      });
      await assert.rejects(running.host.update(key, first.outputs, killed.inputs));

      // the plan is updated before the VMs, so that the state has what the killed run was to have
      const state = { ...recorded(first.outputs).recorded, planned: wanted };
      const next = { ...asked, slots: [slot("w-1"), slot("w-2")], recorded: state };
      const { inputs } = await running.host.check(key, asked, next);
      const steps = inputs.steps as string[];
      assert.deepEqual([...steps].sort(), [
        "delete the VM gone-1-1, which no machine has and no run recorded (Failed: no room)",
        "delete the VM lost-1-1, which no machine has and no run recorded (Creating)",
        "delete the VM w-9-1, which no machine has and no run recorded (Running)",
        "w-2: wait for its VM w-2-1, which is Creating; after 5 s without a change, delete it and create it again",
      ]);
      const done = await running.host.update(key, first.outputs, inputs);
      assert.deepEqual(Object.keys(done.vms as object).sort(), ["w-1", "w-2"]);
      const found = await running.fixture.withServer(({ infrastructures }) =>
        infrastructures.read("ns1", "k5"),
      );
      assert.deepEqual(
        found?.machines.map(({ group, status }) => `${group} ${status}`),
        ["w-1 Running", "w-2 Running"],
      );
      const again = await running.host.check(key, next, { ...next, ...recorded(done) });
      assert.deepEqual([again.inputs.steps, again.refusals], [[], []]);
      await running.host.delete(key, done);
    });

    it("goes on while a VM is suspended, and keeps its record", async () => {
      const asked = { ...desired([slot("w-1"), slot("w-2")]), infrastructure: "k6" };
      const { outputs } = await createOn(running.host, key, asked);
      const { vm } = (outputs.vms as Record<string, { vm: string }>)["w-1"]!;
      await running.fixture.ask("POST", "/sandbox/status", {
        machine: vm,
        infrastructure: "k6",
        namespace: "ns1",
        status: "Suspended",
      });
      const slots = ["w-1", "w-2", "w-3"].map((name) => slot(name));
      const { inputs, refusals } = await running.host.check(key, asked, {
        ...asked,
        slots,
        ...recorded(outputs),
      });
      assert.deepEqual(refusals, []);
      assert.deepEqual(inputs.steps, [`w-3: create its VM in ${CONNECTION} (t3.medium, debian-12)`]);
      const done = await running.host.update(key, outputs, inputs);
      assert.deepEqual(Object.keys(done.vms as object).sort(), ["w-1", "w-2", "w-3"]);
      await running.host.delete(key, done);
    });

    it("has a load balancer in front of its control planes, which is created once and updated with them", async () => {
      const balancer = "tumblebug/TumblebugLoadBalancer";
      const known = made.vms as Record<string, { vm: string }>;
      const vms = (...machines: string[]) => machines.map((machine) => known[machine]!.vm).sort();
      const behind = (...machines: string[]) => ({
        machines,
        vms: Object.fromEntries(machines.map((machine) => [machine, known[machine]!.vm])),
      });
      const behindIt = () => running.fixture.behindBalancer("k1", "cp");
      const loseReply = (method: string) =>
        running.fixture.server.faults.add({
          ...{ method, path: "/nlb", times: 1 },
          effect: { kind: "lost-reply" },
        });
      const asked = {
        ...{ server: running.fixture.access, namespace: "ns1", infrastructure: "k1", group: "cp" },
        ...{ port: 6443, targetPort: 6443, timeoutSeconds: 15, recorded: "" },
        ...behind("cp-1", "cp-2", "cp-3"),
      };
      const refusal = { kind: "status", status: 500, message: "no address left" } as const;
      running.fixture.server.faults.add({ method: "POST", path: "/nlb", times: 1, effect: refusal });
      await assert.rejects(createOn(running.host, balancer, asked), /CreateNLBFailedReason.*no address left/);
      running.fixture.server.passed.length = 0;
      loseReply("POST");
      const { steps, outputs } = await createOn(running.host, balancer, asked);
      assert.deepEqual(steps, ["create a load balancer on port 6443 in front of cp-1, cp-2, cp-3"]);
      assert.match(String(outputs.address), /^127\./);
      assert.equal(running.fixture.changes().length, 1, running.fixture.changes().join());
      const fewer = await running.host.check(balancer, asked, { ...asked, ...behind("cp-1", "cp-2") });
      assert.deepEqual(fewer.inputs.steps, ["cp-3: take away from it"]);
      assert.equal((await running.host.diff(balancer, outputs, fewer.inputs)).changes, true);
      running.fixture.server.passed.length = 0;
      loseReply("DELETE");
      const now = await running.host.update(balancer, outputs, fewer.inputs);
      assert.deepEqual([now.address, await behindIt()], [outputs.address, vms("cp-1", "cp-2")]);
      const more = await running.host.check(balancer, fewer.inputs, asked);
      assert.deepEqual(more.inputs.steps, ["cp-3: put behind it"]);
      await running.host.update(balancer, now, more.inputs);
      assert.deepEqual(await behindIt(), vms("cp-1", "cp-2", "cp-3"));
      assert.equal((await running.host.read(balancer, outputs))?.address, outputs.address);
      await running.host.delete(balancer, outputs);
      assert.equal(await running.host.read(balancer, outputs), undefined);
    });

    it("of others is never touched", async () => {
      const { inputs } = await running.host.check(key, {}, { ...desired(), mark: "another" });
      await assert.rejects(running.host.create(key, inputs), /AlreadyExistMCISFailedReason/);
      assert.deepEqual(running.fixture.changes(), []);
    });

    // the newer generation reports a termination that failed
    if (generation === "mcis")
      it("keeps its record while the server can't reach CB-Spider, and ends VMs that it took for terminated", async () => {
        const { faults } = running.fixture.server;
        const before = running.fixture.machines.count;
        faults.isSpiderDown = true;
        await assert.rejects(running.host.delete(key, made), /CB-Spider.*start the CB-Spider/s);
        assert.deepEqual(running.fixture.changes(), []);
        const owner = { server: running.fixture.access, namespace: "ns1" };
        const { vm } = (made.vms as Record<string, { vm: string }>)["cp-1"]!;
        const single = { ...owner, infrastructure: "k1", machine: "cp-1", vm, timeoutSeconds: 15 };
        await assert.rejects(running.host.delete("tumblebug/TumblebugVm", single), /CB-Spider/);
        // another client asks the server to terminate them: it answers 200, and reports them as terminated
        const { status } = await running.fixture.ask(
          "GET",
          "/ns/ns1/control/mcis/k1?action=terminate&force=true",
        );
        assert.deepEqual([status, running.fixture.machines.count], [200, before]);
        faults.isSpiderDown = false;
      });

    it("is terminated and deleted, and leaves no VM", async () => {
      await running.host.delete(key, made);
      assert.equal(running.fixture.machines.count, 0);
      assert.equal(await running.host.read(key, made).then((props) => typeof props), "object");
      await running.host.delete(key, made);
    });
  },
);
