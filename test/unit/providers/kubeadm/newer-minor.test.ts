import assert from "node:assert/strict";
import { KUBERNETES_MINORS } from "../../../../providers/kubeadm/plan/cluster/kubernetes-minors";
import { fieldsOf, newestMinor } from "../../../../providers/kubeadm/plan/validation/known-fields";
import {
  kubernetesVersionIssue,
  versionWarnings,
} from "../../../../providers/kubeadm/plan/validation/kubernetes-version";
import { issueLines } from "../../../../lib/validation/validation-issue";

const KNOWN = `1.${newestMinor()}.0`;
const NEXT = `1.${newestMinor() + 1}.0`;

describe("a minor of Kubernetes that foresail does not know", () => {
  it("follows the newest one of the generated fields, which is the newest of the table", () => {
    assert.equal(Object.keys(KUBERNETES_MINORS).at(-1), `1.${newestMinor()}`);
  });

  it("is accepted with one warning, which a known one does not get", () => {
    assert.equal(kubernetesVersionIssue(NEXT), undefined);
    assert.match(
      issueLines(versionWarnings(NEXT)).join("\n"),
      /^version: Kubernetes 1\.\d+\.0 is newer than/,
    );
    assert.deepEqual(versionWarnings(KNOWN), []);
  });

  it("has the fields, arguments and feature gates of the newest known one", () => {
    assert.deepEqual(fieldsOf(NEXT), fieldsOf(KNOWN));
    assert.notDeepEqual(fieldsOf(NEXT), fieldsOf(`1.${newestMinor() - 1}.0`));
  });
});
