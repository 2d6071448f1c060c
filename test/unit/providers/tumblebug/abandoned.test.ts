import assert from "node:assert/strict";
import { abandonedVms, withoutVms } from "../../../../providers/tumblebug/plan/abandoned";
import type { MachineVm } from "../../../../providers/tumblebug/plan/model";

const vm = (name: string) => ({ vm: name }) as MachineVm;
const LIVE = ["cp-1", "w-1-1", "w-2-1", "w-3-1"].map((name) => ({ name }));
const RECORDED = {
  vms: { "cp-1": vm("cp-1"), "w-1": vm("w-1-1"), "w-2": vm("w-2-1") },
  leaving: { "w-3": "w-3-1" },
};

describe("the VMs that a killed run recorded, and nothing else of their machines", () => {
  const table: [what: string, wanted: string[], held: string[], abandoned: string[]][] = [
    ["every machine is wanted", ["cp-1", "w-1", "w-2", "w-3"], [], []],
    ["one is no longer wanted", ["cp-1", "w-1"], ["cp-1", "w-1", "w-3"], ["w-2-1"]],
    ["one leaves, and its own resource deletes it", ["cp-1", "w-1"], ["cp-1", "w-1", "w-2", "w-3"], []],
    ["one that was leaving has no resource", ["cp-1", "w-1"], ["w-2"], ["w-3-1"]],
  ];
  for (const [what, wanted, held, expected] of table)
    it(what, () => {
      const slots = wanted.map((machine) => ({ machine }));
      assert.deepEqual(abandonedVms(RECORDED, slots, held, LIVE), expected);
    });

  it("are no VMs that the server does not have", () => {
    assert.deepEqual(abandonedVms(RECORDED, [], [], LIVE.slice(0, 2)), ["cp-1", "w-1-1"]);
    assert.deepEqual(abandonedVms(RECORDED, [], []), []);
  });

  it("are left out of what is recorded", () => {
    const { vms, leaving } = withoutVms(RECORDED, ["w-2-1", "w-3-1"]);
    assert.deepEqual([Object.keys(vms), leaving], [["cp-1", "w-1"], {}]);
    assert.deepEqual(withoutVms(RECORDED), RECORDED);
  });
});
