import assert from "node:assert/strict";
import { pausedRefusals } from "../../../../../providers/kubeadm/plan/validation/rollout";
import { slotOfMachine } from "../../../../../providers/openstack/plan/machine";
import { slotOf } from "../../../../../providers/tumblebug/plan/groups";
import { issuesOf } from "../../../stacks/schema/issues";
import { cloudReader, OPENSTACK, TUMBLEBUG } from "../../../stacks/schema/valid";

const paused = (...pausedNodes: string[]) => ({ rollout: { pausedNodes } });

describe("machines that are paused in a rollout", () => {
  it("may be in a slot that a smaller pool kept, which the state alone knows", () => {
    // the pool has 2 machines, and may have kept those of the slots 1 and 3
    assert.deepEqual(issuesOf(cloudReader("tumblebug", TUMBLEBUG, paused("w-3"))), []);
    assert.deepEqual(issuesOf(cloudReader("openstack", OPENSTACK, paused("w-3-a1b2c"))), []);
  });

  it("are refused in the file when their pool is none", () => {
    const [tumblebug = ""] = issuesOf(cloudReader("tumblebug", TUMBLEBUG, paused("x-3")));
    assert.match(tumblebug, /^cluster\.rollout\.pausedNodes\[0\]: "x-3" is not a machine of this cluster/);
    for (const name of ["w-3", "x-1-a1b2c"]) {
      const [openstack = ""] = issuesOf(cloudReader("openstack", OPENSTACK, paused(name)));
      assert.match(openstack, /pausedNodes\[0\]: ".*" is not a machine of this cluster/);
    }
  });

  it("are refused in the preview when the run has no such machine", () => {
    assert.deepEqual(pausedRefusals(["w-3", "w-1-r2"], ["cp-1", "w-1", "w-3"], slotOf), []);
    assert.deepEqual(pausedRefusals(["w-3-a1b2c"], ["w-3"], slotOfMachine), []);
    assert.deepEqual(pausedRefusals(["w-1", "w-9"], ["cp-1", "w-1"], slotOf), [
      {
        property: "cluster.rollout.pausedNodes[1]",
        reason: '"w-9" is not a machine of this cluster; did you mean "w-1"?',
      },
    ]);
  });
});
