import assert from "node:assert/strict";
import { refuseServerOrder, unlistedChange } from "../../../../cli/review/server-order";
import type { ResourceOperation } from "../../../../cli/review/steps";
import { change } from "./changes";

const server = (machine: string, operation: ResourceOperation, replaceReasons: string[] = []) =>
  change(`demo-${machine}`, [], {
    urn: `urn:pulumi:prod::foresail::x$openstack:compute/instance:Instance::demo-${machine}`,
    type: "Instance",
    operation,
    replaceReasons,
  });
const plan = (leaving: string[], steps: string[] = [], later: string[] = [], arriving: string[] = []) =>
  change("demo-cloud", steps, { type: "CloudPlan", inputs: { cluster: "demo", arriving, leaving, later } });

describe("servers that a preview deletes", () => {
  it("are deleted in their batch, and created whenever they are desired", () => {
    assert.deepEqual(
      refuseServerOrder([plan(["w-1-a"]), server("w-1-a", "delete"), server("w-1-b", "create")]),
      [],
    );
  });

  it("are kept when the plan of machines does not name them", () => {
    const [said, ...more] = refuseServerOrder([
      plan(["w-1-a"]),
      server("w-1-a", "delete"),
      server("w-2-a", "delete"),
      server("cp-1-a", "delete"),
    ]);
    assert.deepEqual(more, []);
    assert.match(said!, /^demo-w-2-a would be deleted, demo-cp-1-a would be deleted outside the order/);
    assert.match(said!, /`replace`/);
  });

  it("are kept when there is no plan of machines at all", () => {
    assert.equal(refuseServerOrder([server("w-1-a", "delete")]).length, 1);
  });

  it("are never replaced in place, whatever the batch", () => {
    const [said] = refuseServerOrder([plan(["w-1-a"]), server("w-1-a", "replace", ["imageId"])]);
    assert.match(
      said!,
      /^demo-w-1-a would be deleted and created again for a changed imageId outside the order/,
    );
  });

  it("are deleted with the whole stack", () => {
    const gone = change("demo-cloud", [], { type: "CloudPlan", operation: "delete" });
    assert.deepEqual(refuseServerOrder([gone, server("w-1-a", "delete")]), []);
  });

  it("are ignored when they are not servers", () => {
    assert.deepEqual(
      refuseServerOrder([change("demo-w-1-a", [], { type: "Instance", operation: "delete" })]),
      [],
    );
  });
});

describe("a run that follows another", () => {
  const line = "w-2: w-2-b is made and joins, then w-2-a is drained and deleted (flavor a → b)";
  const last = "w-3: w-3-b is made and joins, then w-3-a is drained and deleted (flavor a → b)";
  const group = (name: string, steps: string[]) => change(name, steps);
  const first = [
    plan([], [], [`then, in the next run: ${line}`, `then, in the run after it: ${last}`]),
    group("demo-w", []),
    change("demo-rollout", [], { type: "NodeRollout" }),
  ];
  const next = plan(["w-2-a"], [line], [`then, in the next run: ${last}`], ["w-2-b"]);
  const steps = [
    "w-2-b: join as worker of w, wait until Ready",
    "cluster DNS: move its pods apart if all of them are on one node",
    "w-2-a: cordon, drain, kubeadm reset, delete its Node",
  ];

  it("is a part of what was listed, with the objects of its machines", () => {
    const objects = [server("w-2-b", "create"), server("w-2-a", "delete")];
    assert.equal(unlistedChange(first, [next, group("demo-w", steps), ...objects]), undefined);
  });

  it("may be the first run of another pool", () => {
    const other = "v-1: v-1-b is made and joins, then v-1-a is drained and deleted (flavor a → b)";
    const before = [plan([], [], [`then, in the next run: ${other}`])];
    const pool = change("demo-v", ["v-1-b: join as worker of v, wait until Ready"]);
    const init = change("demo-init", [], { type: "ClusterInit" });
    assert.equal(unlistedChange(before, [plan(["v-1-a"], [other], [], ["v-1-b"]), pool, init]), undefined);
  });

  it("is not one that has another machine, now or later", () => {
    const other = "w-9: w-9-b is made";
    assert.equal(unlistedChange(first, [plan([], [line, other])]), other);
    assert.equal(unlistedChange(first, [plan([], [line], [`then, in the next run: ${other}`])]), other);
  });

  it("is not one that changes a node which no machine's line names", () => {
    const strange = "cp-1 1.35.4 → 1.36.3 (cordon, drain, kubeadm upgrade apply, uncordon)";
    assert.equal(
      unlistedChange(first, [next, change("demo-rollout", [strange], { type: "NodeRollout" })]),
      strange,
    );
  });

  it("is recognized by the machines' full names", () => {
    const before = [plan([], [], ["then, in the next run: cp-1: leaves"])];
    const turn = plan(["cp-1"], ["cp-1: leaves"]);
    const vm = (machine: string) =>
      change(`k1-${machine}-vm`, [], { type: "TumblebugVm", operation: "delete" });
    assert.equal(unlistedChange(before, [turn, vm("cp-1")]), undefined);
    assert.equal(unlistedChange(before, [turn, vm("cp-11")]), "delete TumblebugVm k1-cp-11-vm");
  });

  it("is not one that changes what was not reviewed", () => {
    const rule = change("demo-nodes-ssh", [], { type: "SecGroupRule", operation: "create" });
    assert.equal(unlistedChange(first, [next, rule]), "create SecGroupRule demo-nodes-ssh");
  });
});
