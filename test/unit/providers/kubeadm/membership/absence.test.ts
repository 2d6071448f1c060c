import assert from "node:assert/strict";
import { refuseMemberAbsence } from "../../../../../providers/kubeadm/plan/membership/quorum";

const members = (healthy: boolean[]) =>
  healthy.map((well, index) => ({
    id: String(index),
    name: `cp-${index + 1}`,
    peerUrls: [],
    healthy: well,
  }));
const yes = true;
const no = false;

describe("an etcd member that is temporarily away", () => {
  for (const [healthy, isRefused] of [
    [[yes], false],
    [[yes, yes], false],
    [[yes, no], true],
    [[yes, yes, yes], false],
    [[no, yes, yes], false],
    [[yes, yes, no], true],
    [[yes, yes, yes, yes, no], false],
    [[yes, yes, yes, no, no], true],
  ] as const)
    it(`${isRefused ? "is refused" : "may be"} the first of ${healthy.map((well) => (well ? "healthy" : "unhealthy")).join(", ")}`, () => {
      const refusal = refuseMemberAbsence(members([...healthy]), "cp-1");
      if (isRefused)
        assert.match(refusal ?? "", /^while cp-1 is away etcd would have \d healthy .*not healthy: cp-/);
      else assert.equal(refusal, undefined);
    });
});
