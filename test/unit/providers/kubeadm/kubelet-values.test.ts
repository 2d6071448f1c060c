import assert from "node:assert/strict";
import { kubeletValueIssues } from "../../../../providers/kubeadm/plan/validation/kubelet-values";

describe("values of a kubelet", () => {
  const accepted: Record<string, object> = {
    "percentages as the kubelet reads them": {
      evictionHard: { "nodefs.available": "10%%", "memory.available": "1e1%" },
    },
    "a soft limit of nothing without a grace period": { evictionSoft: { "memory.available": "0%" } },
    "a soft limit of everything without a grace period": { evictionSoft: { "memory.available": "100%" } },
    "a soft limit with its grace period": {
      evictionSoft: { "memory.available": "200Mi" },
      evictionSoftGracePeriod: { "memory.available": "1m30s" },
    },
    "a limit of images that fits the default of the other one": { imageGCLowThresholdPercent: 70 },
  };
  for (const [what, kubelet] of Object.entries(accepted))
    it(`may be ${what}`, () => assert.deepEqual(kubeletValueIssues(kubelet, true), []));

  for (const percentage of ["10 %", "0x10%", "%", "-1%", "101%"])
    it(`may not be the percentage ${percentage}`, () => {
      const [issue, ...others] = kubeletValueIssues(
        { evictionHard: { "memory.available": percentage } },
        true,
      );
      assert.match(issue?.message ?? "", /is not from "0%" to "100%"/);
      assert.deepEqual(others, []);
    });

  for (const field of ["evictionSoftGracePeriod", "evictionMinimumReclaim"])
    it(`may not have an unknown signal in ${field}`, () => {
      const issues = kubeletValueIssues({ [field]: { "memory.availible": "1m" } }, true);
      assert.deepEqual(
        issues.map(({ path }) => path),
        [[field, "memory.availible"]],
      );
    });

  it("are not compared with each other where the cluster may have more of them", () => {
    const parts = { imageGCHighThresholdPercent: 75, evictionSoft: { "memory.available": "200Mi" } };
    assert.equal(kubeletValueIssues(parts, true).length, 2);
    assert.deepEqual(kubeletValueIssues(parts, false), []);
  });
});
