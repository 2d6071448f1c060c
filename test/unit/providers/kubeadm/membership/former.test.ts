import assert from "node:assert/strict";
import type { Machine } from "../../../../../providers/kubeadm/plan/cluster/machine";
import { formerMachines } from "../../../../../providers/kubeadm/plan/membership/nodes";

const machines = (...names: string[]) => names.map((name) => ({ name }) as Machine);
const namesOf = (found: Machine[]) => found.map(({ name }) => name);

describe("former machines that destroy resets again", () => {
  it("are those that left the configuration, since their removal may have failed", () =>
    assert.deepEqual(
      namesOf(formerMachines({ machines: machines("cp-1", "w-1", "w-2") }, machines("cp-1", "w-1"))),
      ["w-2"],
    ));

  it("accumulate over several changes", () => {
    const before = { machines: machines("cp-1", "w-1"), former: machines("w-2") };
    assert.deepEqual(namesOf(formerMachines(before, machines("cp-1"))), ["w-2", "w-1"]);
  });

  it("are not those that came back", () => {
    const before = { machines: machines("cp-1"), former: machines("w-2") };
    assert.deepEqual(namesOf(formerMachines(before, machines("cp-1", "w-2"))), []);
  });
});
