import assert from "node:assert/strict";
import { kubeletEnded, silentKubelets } from "../../../../../providers/kubeadm/plan/certificates/kubelets";
import { parseCertificates } from "../../../../../providers/kubeadm/plan/certificates/report";
import { nodeAt } from "../rollout/nodes";

const NOW = new Date("2026-11-27T12:00:00Z");
const ENDED = parseCertificates("apiserver=2027-11-20T00:00:00Z kubelet-client=2026-11-27T12:00:00Z")!;
const VALID = parseCertificates("apiserver=2026-11-20T00:00:00Z kubelet-client=2026-11-27T12:00:01Z")!;

describe("a kubelet's certificate", () => {
  it("has ended at its last instant, whatever the others do", () => {
    assert.equal(kubeletEnded(ENDED, NOW), "2026-11-27T12:00:00Z");
    assert.equal(kubeletEnded(VALID, NOW), undefined);
    assert.equal(kubeletEnded(undefined, NOW), undefined);
  });

  it("is why a node does not report only if it is not Ready: a kubelet renews its own before", () => {
    const nodes = [
      nodeAt("w-2", "1.36.3", { ready: false, certificates: ENDED }),
      nodeAt("cp-1", "1.36.3", { ready: false, certificates: ENDED }),
      nodeAt("w-1", "1.36.3", { certificates: ENDED }),
      nodeAt("w-3", "1.36.3", { ready: false, certificates: VALID }),
      nodeAt("w-4", "1.36.3", { ready: false }),
    ];
    assert.deepEqual(silentKubelets(nodes, NOW), ["cp-1", "w-2"]);
  });
});
