import assert from "node:assert/strict";
import { judge, type Spec } from "../../cluster/kubeadm-suite";

const spec = (title: string, state: Spec["State"], more: Partial<Spec> = {}): Spec => ({
  ContainerHierarchyTexts: ["[sig-cluster-lifecycle]", "kubelet-config ConfigMap"],
  LeafNodeText: title,
  LeafNodeType: "It",
  State: state,
  ...more,
});
const BEFORE = "[sig-cluster-lifecycle] kubelet-config ConfigMap";

describe("a report of Kubernetes' own tests", () => {
  it("is sorted by result, with the first line of each reason", () => {
    const failure = {
      Failure: { Message: 'configmaps "kubelet-config" not found\nin kubeadm_config_test.go' },
    };
    const specs = [
      spec("should exist", "passed"),
      spec("should be bound", "skipped"),
      spec("should come", "pending"),
      spec("should be readable", "failed", failure),
      spec("should end", "timedout"),
    ];
    assert.deepEqual(judge([{ SpecReports: specs }]), {
      passed: [`${BEFORE} should exist`],
      skipped: [`${BEFORE} should be bound`, `${BEFORE} should come`],
      failed: [
        `${BEFORE} should be readable: configmaps "kubelet-config" not found`,
        `${BEFORE} should end: timedout`,
      ],
    });
  });

  it("has failed when what prepares the tests failed, and counts that as no test otherwise", () => {
    const prepared = { ContainerHierarchyTexts: null, LeafNodeText: "", LeafNodeType: "BeforeSuite" };
    const of = (state: Spec["State"]) => judge([{ SpecReports: [spec("", state, prepared)] }]);
    assert.deepEqual(of("passed"), { passed: [], skipped: [], failed: [] });
    assert.deepEqual(of("panicked").failed, ["BeforeSuite: panicked"]);
  });

  it("has nothing when nothing ran", () => {
    assert.deepEqual(judge([{ SpecReports: null }]), { passed: [], skipped: [], failed: [] });
  });
});
