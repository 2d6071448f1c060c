import assert from "node:assert/strict";
import { isPreparation } from "../../../../cli/review/steps";

describe("a line of a preparation", () => {
  for (const [line, expected] of [
    ["w-1: write /etc/sysctl.d/90-foresail.conf", true],
    ["w-1: remove /etc/a, /etc/b", true],
    ["w-1: install kubeadm, kubelet 1.36.3 from the bundle", true],
    ["w-1: reboot, since its packages ask for it", true],
    ["w-1: join as worker of workers, wait until Ready", false],
    ["cluster: write kubeadm-config and kubelet-config", false],
  ] as const)
    it(`${expected ? "is" : "is not"} "${line}"`, () => assert.equal(isPreparation(line), expected));
});
