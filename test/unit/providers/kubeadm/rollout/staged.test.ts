import assert from "node:assert/strict";
import { planRollout } from "../../../../../providers/kubeadm/plan/rollout/plan";
import { refuseUnstaged } from "../../../../../providers/kubeadm/plan/rollout/desired";
import { nodeAt, desiredFor } from "./nodes";

describe("intermediate versions of a rollout", () => {
  const nodes = [nodeAt("cp-1", "1.34.4"), nodeAt("w-1", "1.34.4")];

  it("have to be in the configuration, since nodes hold no others", () => {
    const desired = desiredFor(nodes, "1.36.3");
    const { steps } = planRollout(nodes, desired);
    assert.match(
      refuseUnstaged(steps, desired) ?? "",
      /leads over 1\.35\.\d+, .* rollout\.intermediateVersions$/,
    );
  });

  it("are staged when the configuration names them, or when there are none", () => {
    const desired = desiredFor(nodes, "1.36.3", { intermediates: ["1.35.4"] });
    assert.equal(refuseUnstaged(planRollout(nodes, desired).steps, desired), undefined);
    const next = desiredFor(nodes, "1.35.4");
    assert.equal(refuseUnstaged(planRollout(nodes, next).steps, next), undefined);
  });
});
