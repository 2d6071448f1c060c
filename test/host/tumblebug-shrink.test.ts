import assert from "node:assert/strict";
import { type MachineGroup, wantedSlots } from "../../providers/tumblebug/plan/groups";
import { planBatch } from "../../providers/tumblebug/plan/machine-batch";
import type { MachineVm } from "../../providers/tumblebug/plan/model";
import { readStoppedMachines } from "../../providers/tumblebug/resources/stopped-machines";
import { CONNECTION, createOn, describeGenerations, OBJECTS } from "./tumblebug-fixture";

const workers = (replicas: number): MachineGroup => ({
  ...{ name: "w", role: "worker", connection: CONNECTION, replicas },
  ...{ spec: "t3.medium", image: "debian-12", labels: {}, taints: [] },
});

describeGenerations(
  "a smaller group of Tumblebug's VMs, in Pulumi's own process",
  (generation) => `of the generation ${generation}`,
  (running) => {
    const key = "tumblebug/TumblebugMcis";
    const groups = (replicas: number) => [workers(replicas)];

    before(async () => {
      for (const [of, , name, own] of OBJECTS)
        await createOn(running.host, of, running.fixture.object(name, own));
    });

    it("loses suspended machines first when a group becomes smaller", async () => {
      const five = wantedSlots(groups(5));
      const asked = running.fixture.mcis("k7", five);
      const { outputs } = await createOn(running.host, key, asked);
      const vms = outputs.vms as Record<string, MachineVm>;
      for (const machine of ["w-1", "w-3"])
        await running.fixture.ask("POST", "/sandbox/status", {
          ...{ machine: vms[machine]!.vm, infrastructure: "k7", namespace: "ns1", status: "Suspended" },
        });
      const server = running.fixture.access as unknown as Parameters<typeof readStoppedMachines>[0]["server"];
      const ref = { server, namespace: "ns1", infrastructure: "k7" };
      const state = { slots: five, vms, leaving: {}, held: [] };
      running.fixture.server.passed.length = 0;
      assert.deepEqual(await readStoppedMachines(ref, groups(5), state), { stopped: {}, refusals: [] });
      assert.equal(running.fixture.server.passed.length, 0, "asks although no machine leaves");
      const { stopped, refusals } = await readStoppedMachines(ref, groups(2), state);
      assert.deepEqual([stopped, refusals], [{ "w-1": "Suspended", "w-3": "Suspended" }, []]);
      const missing = { ...state, vms: { ...vms, "w-4": { ...vms["w-4"]!, vm: "w-4-9" } } };
      assert.equal((await readStoppedMachines(ref, groups(2), missing)).stopped["w-4"], "gone");
      const left = { slots: [], vms: {}, leaving: { "w-6": "w-6-1" }, held: ["w-6"] };
      assert.deepEqual((await readStoppedMachines(ref, groups(5), left)).stopped, { "w-6": "gone" });
      const hasLeft = { ...left, held: [] };
      assert.deepEqual((await readStoppedMachines(ref, groups(5), hasLeft)).stopped, {});
      const wanted = wantedSlots(groups(2), {}, five, (machine) => machine in stopped);
      const { slots, undrained } = planBatch(
        wanted,
        { ...state, controlPlanes: { joined: [], members: [], kept: [] } },
        [],
        stopped,
      );
      assert.deepEqual(
        slots.map(({ machine }) => machine),
        ["w-2", "w-4"],
      );
      assert.deepEqual(undrained, ["w-1", "w-3"]);
      const { inputs } = await running.host.check(key, asked, {
        ...asked,
        slots,
        recorded: { vms, leaving: {} },
      });
      assert.deepEqual(Object.keys(inputs.leaving as object).sort(), ["w-1", "w-3", "w-5"]);
      await running.host.delete(key, outputs);
    });
  },
);
