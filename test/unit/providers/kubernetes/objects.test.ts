import assert from "node:assert/strict";
import fc from "fast-check";
import {
  decideAdoption,
  type ExistingObject,
  isFreshlyMade,
  LEAVE_OR_ADOPT,
  ownAdditions,
} from "../../../../providers/kubernetes/plan/adoption";
import {
  changedPaths,
  liveOf,
  fieldAt,
  withLiveVersions,
  without,
  withValue,
} from "../../../../providers/kubernetes/plan/fields";
import { decideObject, leftToDo } from "../../../../providers/kubernetes/resources/adoption-inputs";
import { identityText } from "../../../../providers/kubernetes/plan/identity";
import { judgeStatus, type DesiredStatus } from "../../../../providers/kubernetes/plan/status";

describe("paths of fields", () => {
  const object = { metadata: { annotations: { "example.org/size": "3" } }, list: [{ a: 1 }] };
  it("follow names, quoted names and indexes", () => {
    assert.equal(fieldAt(object, 'metadata.annotations["example.org/size"]'), "3");
    assert.equal(fieldAt(object, "list[0].a"), 1);
    assert.equal(fieldAt(object, "status.phase"), undefined);
  });
  it("set and remove without changing the object", () => {
    assert.deepEqual(withValue({ a: { b: 1 } }, "a.c", 2), { a: { b: 1, c: 2 } });
    assert.deepEqual(without({ a: { b: 1, c: 2 } }, "a.c"), { a: { b: 1 } });
    assert.deepEqual(without({ a: 1 }, "b.c"), { a: 1 });
    assert.deepEqual(changedPaths({ a: { b: 1 }, c: 1 }, { a: { b: 2 }, d: 1 }), ["a.b", "c", "d"]);
  });
  it("of a reference don't have its version, which a server of several versions changes", () => {
    const at = (apiVersion: string, name = "p") => ({ spec: { ref: { apiVersion, kind: "Config", name } } });
    const [old, live] = [at("example.org/v1beta1"), at("example.org/v1beta2")];
    assert.deepEqual(changedPaths(old, live), []);
    assert.deepEqual(withLiveVersions(old, live), live);
    const another = at("example.com/v1beta1");
    assert.deepEqual(changedPaths(another, live), ["spec.ref.apiVersion"]);
    assert.deepEqual(withLiveVersions(another, live), another);
    assert.deepEqual(changedPaths(old, at("example.org/v1beta2", "q")), [
      "spec.ref.apiVersion",
      "spec.ref.name",
    ]);
  });
});

describe("ownership of an object", () => {
  const desired = { stack: "p/s", owners: [], adopt: false, recordedAs: [] };
  const controller = { apiVersion: "apps/v1", kind: "Deployment", name: "web", uid: "1", controller: true };
  const table: [what: string, existing: ExistingObject | undefined, over: object, decision: object][] = [
    ["none", undefined, {}, { do: "make" }],
    [
      "made by this stack",
      { metadata: { annotations: { "foresail/made-by": "p/s" } } },
      {},
      { do: "keep", isMade: true },
    ],
    [
      "adopted by this stack",
      { metadata: { annotations: { "foresail/adopted-by": "p/s" } } },
      {},
      { do: "keep", isMade: false },
    ],
    [
      "controlled",
      { metadata: { ownerReferences: [controller] } },
      {},
      { do: "refuse", owner: "its controller Deployment web", next: LEAVE_OR_ADOPT },
    ],
    [
      "controlled by the owner that is named",
      { metadata: { ownerReferences: [controller] } },
      { owners: [controller] },
      { do: "adopt" },
    ],
    [
      "owned, not controlled",
      { metadata: { ownerReferences: [{ ...controller, controller: false }] } },
      {},
      { do: "adopt" },
    ],
    [
      "this stack's own, without its mark",
      { metadata: { uid: "u", ownerReferences: [controller] } },
      { known: { uid: "u", made: true } },
      { do: "keep", isMade: true },
    ],
    [
      "written by another writer",
      { metadata: { managedFields: [{ manager: "helm" }, { manager: "c", subresource: "status" }] } },
      {},
      { do: "adopt", from: "helm" },
    ],
    [
      "being deleted",
      { metadata: { deletionTimestamp: "now", annotations: { "foresail/made-by": "p/s" } } },
      {},
      { do: "wait", why: "it is being deleted" },
    ],
  ];
  for (const [what, existing, over, decision] of table)
    it(`when it is ${what}`, () =>
      assert.deepEqual(decideAdoption(existing, { ...desired, ...over }), decision));

  it("and whether it was just created", () => {
    const ours = { manager: "foresail", operation: "Apply" };
    assert.equal(isFreshlyMade({ metadata: { managedFields: [ours] } }), true);
    assert.equal(
      isFreshlyMade({ metadata: { managedFields: [ours, { manager: "helm", operation: "Apply" }] } }),
      false,
    );
  });

  it("and which finalizers and owners only this program wrote", () => {
    const fieldsV1 = {
      "f:metadata": {
        "f:finalizers": { 'v:"a"': {}, 'v:"b"': {} },
        "f:ownerReferences": { 'k:{"uid":"1"}': {} },
      },
    };
    const others = {
      manager: "x",
      operation: "Update",
      fieldsV1: { "f:metadata": { "f:finalizers": { 'v:"b"': {} } } },
    };
    const managedFields = [{ manager: "foresail", operation: "Apply", fieldsV1 }, others];
    const metadata = { managedFields, finalizers: ["a", "b", "c"], ownerReferences: [controller] };
    assert.deepEqual(ownAdditions({ metadata }), { finalizers: ["a"], ownerUids: ["1"] });
    assert.deepEqual(ownAdditions({ metadata }, ["b"]).finalizers, ["a", "b"], "a finalizer held by name");
  });
});

describe("the live values of desired fields", () => {
  it("leave out what others add, and show what is missing or different", () => {
    const desired = { a: 1, b: { c: [1, 2] }, list: [{ name: "x", v: 1 }], empty: {} };
    const live = { a: 2, b: { c: [1, 2], d: 4 }, list: [{ name: "y" }, { name: "x", v: 1, w: 2 }], more: 1 };
    assert.deepEqual(liveOf(desired, live), {
      a: 2,
      b: { c: [1, 2] },
      list: [{ name: "x", v: 1 }],
      empty: {},
    });
    assert.deepEqual(liveOf({ a: { b: 1 } }, { a: {} }), { a: {} });
  });
  it("are the desired values when they are set, whatever else is", () => {
    const value = fc
      .jsonValue({ maxDepth: 3 })
      .filter((json) => typeof json === "object" && json !== null && !Array.isArray(json));
    fc.assert(
      fc.property(value, (desired) =>
        assert.deepEqual(liveOf(desired, { ...(desired as object), "an other": 1 }), desired),
      ),
    );
  });
});

describe("evaluation of a status", () => {
  const desired: DesiredStatus = {
    fields: { id: "status.id" },
    conditions: [{ type: "Ready" }],
    equals: [{ path: "status.phase", value: "Active" }],
    failures: [{ path: "status.phase", value: "Failed" }, { path: "status.failureMessage" }],
    messages: ["status.message"],
  };
  const good = {
    id: "i",
    phase: "Active",
    conditions: [{ type: "Ready", status: "True" }],
    observedGeneration: 2,
  };
  const table: [what: string, status: object | undefined, judgment: object][] = [
    ["all is there", good, { done: { id: "i" } }],
    [
      "nothing is",
      undefined,
      {
        pending:
          "status.id is not there yet; status.phase is absent, not Active yet; condition Ready is not there yet",
      },
    ],
    [
      "it is of an older generation",
      { ...good, observedGeneration: 1 },
      { pending: "its controller has seen generation 1 of 2" },
    ],
    [
      "a condition is of an older generation",
      { ...good, conditions: [{ type: "Ready", status: "True", observedGeneration: 1 }] },
      { pending: "condition Ready is of an older generation" },
    ],
    [
      "a condition is False",
      { ...good, conditions: [{ type: "Ready", status: "False", reason: "R", message: "m" }], message: "w" },
      { pending: "condition Ready is False (R: m): w" },
    ],
    [
      "it failed",
      { ...good, phase: "Failed", message: "no room" },
      { failed: "status.phase is Failed: no room" },
    ],
    [
      "it failed with a message alone",
      { ...good, failureMessage: "x" },
      { failed: "status.failureMessage is x" },
    ],
    ["a field is empty", { ...good, id: "" }, { pending: "status.id is not there yet" }],
  ];
  for (const [what, status, judgment] of table)
    it(`when ${what}`, () =>
      assert.deepEqual(judgeStatus({ metadata: { generation: 2 }, status }, desired), judgment));

  it("waits for nothing when no condition is given, not even for the controller", () => {
    assert.deepEqual(judgeStatus({ metadata: { generation: 2 }, status: { observedGeneration: 1 } }, {}), {
      done: {},
    });
  });

  it("gives an object the same name in every API version", () => {
    const object = {
      apiVersion: "cluster.x-k8s.io/v1beta1",
      kind: "MachinePool",
      namespace: "demo",
      name: "a",
    };
    assert.equal(identityText(object), "MachinePool.cluster.x-k8s.io/demo/a");
    assert.equal(identityText({ ...object, apiVersion: "cluster.x-k8s.io/v1beta2" }), identityText(object));
    assert.equal(identityText({ apiVersion: "v1", kind: "Node", name: "a" }), "Node/a");
  });
});

describe("an object whose controller another component sets", () => {
  const controller = { apiVersion: "cluster.x-k8s.io/v1beta1", kind: "MachinePool", name: "pool-a" };
  const inputs = {
    kubeconfig: "",
    stack: "p/s",
    timeoutSeconds: 1,
    object: { apiVersion: "example.org/v1", kind: "SampleConfig", metadata: { name: "pool-a" } },
    controller,
  };
  const ownedBy = (name: string) => ({
    kind: "SampleConfig",
    metadata: { ownerReferences: [{ ...controller, name, uid: "1", controller: true }] },
  });

  it("is adopted without `adopt: true`, and refused with another controller", () => {
    assert.deepEqual(decideObject(inputs, ownedBy("pool-a")), { do: "adopt" });
    const owner = "its controller MachinePool pool-b";
    assert.deepEqual(decideObject(inputs, ownedBy("pool-b")), { do: "refuse", owner, next: LEAVE_OR_ADOPT });
  });

  it("needs no step for that owner", () => {
    assert.deepEqual(leftToDo(inputs, ownedBy("pool-a")), [{ kind: "adopt" }]);
  });
});
