import assert from "node:assert/strict";
import fc from "fast-check";
import { hasEnded, nextDeletionStep, type EndingVm } from "../../../../providers/tumblebug/plan/machine-plan";

const vm = (name: string, status: string, cloudId = "i-1"): EndingVm => ({ name, status, cloudId });

describe("deletion of an MCIS", () => {
  const rows: [says: string, vms: EndingVm[], wasAsked: boolean, step: object][] = [
    ["an empty one is deleted", [], false, { kind: "delete", isMixed: false }],
    [
      "VMs that run are terminated",
      [vm("w-1", "Running"), vm("cp-1", "Suspended")],
      false,
      { kind: "terminate", vms: ["cp-1", "w-1"] },
    ],
    [
      "VMs that are on their way are waited for",
      [vm("cp-1", "Terminating"), vm("w-1", "Terminated")],
      true,
      { kind: "wait", vms: ["cp-1"] },
    ],
    [
      "one that failed is terminated too, at first: the server then looks for it in the cloud",
      [vm("cp-1", "Terminated"), vm("w-1", "Failed", "")],
      false,
      { kind: "terminate", vms: ["w-1"] },
    ],
    [
      "one that failed and that the cloud never had has ended then",
      [vm("cp-1", "Terminated"), vm("w-1", "Failed", "")],
      true,
      { kind: "delete", isMixed: true },
    ],
    [
      "one that failed and that the cloud has is not left behind",
      [vm("cp-1", "Terminated"), vm("w-1", "Failed", "i-2")],
      true,
      { kind: "terminate", vms: ["w-1"] },
    ],
    [
      "one whose status could not be read is not taken for ended",
      [vm("cp-1", "Undefined"), vm("w-1", "Undefined")],
      true,
      { kind: "terminate", vms: ["cp-1", "w-1"] },
    ],
    [
      "VMs that all failed are deleted without force",
      [vm("cp-1", "Failed", ""), vm("w-1", "Failed", "")],
      true,
      { kind: "delete", isMixed: false },
    ],
  ];
  for (const [says, vms, wasAsked, step] of rows)
    it(says, () => assert.deepEqual(nextDeletionStep(vms, wasAsked), step));

  it("never drops the record of a VM that the cloud may have", () => {
    const any = fc.record({
      name: fc.constantFrom("cp-1", "w-1", "w-2"),
      status: fc.constantFrom(
        ...["Creating", "Running", "Suspended", "Terminating", "Terminated", "Failed", "Undefined"],
        ...["Preparing", "Reconciling", "Empty", "a newer word"],
      ),
      cloudId: fc.constantFrom("", "i-1"),
    });
    fc.assert(
      fc.property(fc.array(any), fc.boolean(), (vms, wasAsked) => {
        if (nextDeletionStep(vms, wasAsked).kind !== "delete") return;
        for (const one of vms) {
          assert.ok(hasEnded(one));
          assert.ok(one.status === "Terminated" || one.cloudId === "");
        }
      }),
    );
  });
});
