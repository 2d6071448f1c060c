import assert from "node:assert/strict";
import { deletionState, type LeavingObject } from "../../../../providers/kubernetes/plan/deletion";

const condition = (type: string, status: string, message: string) => ({
  ...{ type, status, message },
  reason: "R",
});

const CASES: [string, LeavingObject, string][] = [
  ["nothing that says why", {}, "it is there"],
  [
    "finalizers",
    { metadata: { finalizers: ["a.io/x", "b.io/y"] }, status: { phase: "Deleting" } },
    "phase Deleting, kept by a.io/x, b.io/y",
  ],
  [
    "a Namespace whose discovery fails because an aggregated API is down",
    {
      spec: { finalizers: ["kubernetes"] },
      status: {
        phase: "Terminating",
        conditions: [
          condition("NamespaceDeletionDiscoveryFailure", "True", "metrics.k8s.io/v1beta1: stale"),
          condition("NamespaceDeletionContentFailure", "False", "all deleted"),
          condition("NamespaceFinalizersRemaining", "True", "a.io/x in 1 resource instances"),
        ],
      },
    },
    "phase Terminating, kept by kubernetes; NamespaceDeletionDiscoveryFailure: R: metrics.k8s.io/v1beta1: stale; NamespaceFinalizersRemaining: R: a.io/x in 1 resource instances",
  ],
  [
    "conditions of Cluster API",
    {
      status: {
        conditions: [
          condition("Deleting", "True", "drains w-1"),
          condition("Ready", "False", "1 of 2"),
          condition("Available", "False", "no"),
        ],
      },
    },
    "it is there; Deleting: R: drains w-1; Ready: R: 1 of 2",
  ],
  ["conditions that are not a list", { status: { conditions: "x" } }, "it is there"],
];

describe("the state of an object that is being deleted", () => {
  for (const [what, object, words] of CASES)
    it(`names ${what}`, () => {
      assert.equal(deletionState(object), words);
    });
});
