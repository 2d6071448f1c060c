import assert from "node:assert/strict";
import { membershipIssues } from "../../../../../providers/kubeadm/plan/adoption/adoption";
import { issueLines } from "../../../../../lib/validation/validation-issue";
import { exampleMachine } from "../machine/examples";

const SELF = { id: "9a1c9c6e-3d0a-4a58-9f3e-0c8f7a5d1b42", stack: "org/shop/staging" };
const OTHER = "0b9e2d11-6a3f-4c2b-8d57-1f1f3f0a7c3d";

describe("the owner of a machine to adopt", () => {
  const issues = (marker: string, takeOver?: string) =>
    issueLines(
      membershipIssues(
        "demo",
        [
          {
            machine: exampleMachine("w-1"),
            facts: {
              ...{ marker, authority: "a".repeat(64), machineId: "id", addresses: [], controlPlane: false },
              ...{ system: "debian 12 x86_64", kubelet: "/usr/local/bin/kubelet" },
            },
          },
        ],
        { ...SELF, takeOver },
      ),
    );
  const markOf = (stack: string, id: string) => `cluster=demo machine=w-1 stack=${stack} id=${id}`;

  it("may be this stack, also under an earlier name", () =>
    assert.deepEqual(issues(markOf("org/shop/old", SELF.id)), []));

  it("is refused when it is one of another cluster", () =>
    assert.match(issues("cluster=other machine=w-1").join("\n"), /is the machine w-1 of the cluster other/));

  it("is refused when it is another stack, unless it is taken over", () => {
    const [line = "", ...others] = issues(markOf("org/shop/prod", OTHER));
    assert.deepEqual(others, []);
    assert.match(line, /w-1 belongs to the stack org\/shop\/prod \(0b9e.*write cluster\.takeOver: 0b9e/);
    assert.deepEqual(issues(markOf("org/shop/prod", OTHER), OTHER), []);
  });
});
