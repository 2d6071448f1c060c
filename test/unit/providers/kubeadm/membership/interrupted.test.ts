import assert from "node:assert/strict";
import type { ReadFacts } from "../../../../../providers/kubeadm/plan/facts/machine-facts";
import { parseMachineMark } from "../../../../../providers/kubeadm/plan/facts/machine-mark";
import type { RecordedMachine } from "../../../../../providers/kubeadm/plan/facts/ownership";
import { CONTROL_PLANE_GROUP } from "../../../../../providers/kubeadm/plan/cluster/machine";
import {
  interruptedMachines,
  mayBeInterrupted,
} from "../../../../../providers/kubeadm/plan/membership/interrupted";
import type { ObservedNode } from "../../../../../providers/kubeadm/plan/membership/nodes";
import { planMembership } from "../../../../../providers/kubeadm/plan/membership/plan";
import { nodeGroupSteps } from "../../../../../providers/kubeadm/plan/steps";

const ID = "9a1c9c6e-3d0a-4a58-9f3e-0c8f7a5d1b42";
const SELF = { id: ID, stack: "org/shop/prod" };
const at = { address: "192.0.2.1", port: 22, user: "root", hostKey: "ssh-ed25519 AAAA" };
const left = (name: string, group: string): RecordedMachine => ({ name, group, ...at });
const said = (mark: string, adopted?: true): ReadFacts => ({
  ...{ mark: parseMachineMark(mark), identity: "" },
  ...(adopted ? { adopted } : {}),
});
const markOf = (machine: string, id = ID) => `cluster=demo machine=${machine} stack=org/shop/prod id=${id}`;

describe("a machine that an interrupted run prepared or joined", () => {
  const former = [left("cp-2", CONTROL_PLANE_GROUP), left("w-2", "workers"), left("b-1", "batch")];
  const of = (group: string, more: { configured?: string[]; recorded?: string[] } = {}) =>
    mayBeInterrupted({
      ...{ group, former, configured: more.configured ?? [], recorded: more.recorded ?? [] },
      pools: group === CONTROL_PLANE_GROUP ? { workers: [] } : undefined,
    }).map(({ name }) => name);

  it("is asked by its own group, and by the control planes' one if its pool is not configured", () => {
    assert.deepEqual(of("workers"), ["w-2"]);
    assert.deepEqual(of(CONTROL_PLANE_GROUP), ["cp-2", "b-1"]);
  });

  it("is neither configured again nor in the state of a group, which takes it out anyway", () => {
    assert.deepEqual(of("workers", { configured: ["w-2"] }), []);
    assert.deepEqual(of(CONTROL_PLANE_GROUP, { recorded: ["b-1"] }), ["cp-2"]);
  });

  const facts: [what: string, facts: ReadFacts | undefined, is: boolean][] = [
    ["this stack's mark", said(markOf("w-2")), true],
    ["no mark any more", said(""), false],
    ["another stack's", said(markOf("w-2", "0b9e2d11-6a3f-4c2b-8d57-1f1f3f0a7c3d")), false],
    ["another machine's", said(markOf("w-3")), false],
    ["an earlier release's", said("cluster=demo machine=w-2"), false],
    ["the mark of a member that others made", said(markOf("w-2"), true), false],
    ["no answer", { unread: "refused" }, false],
    ["not read", undefined, false],
  ];
  for (const [what, found, is] of facts)
    it(`is recognized by its own mark: ${what}`, () => {
      const read = new Map(found ? [["w-2", found]] : []);
      const names = interruptedMachines(SELF, "demo", [left("w-2", "workers")], read, () => false).map(
        ({ name }) => name,
      );
      assert.deepEqual(names, is ? ["w-2"] : []);
    });

  it("counts without its mark only as long as its Node is in the cluster", () => {
    const find = (found: ReadFacts, ...nodes: string[]) =>
      interruptedMachines(SELF, "demo", [left("w-2", "workers")], new Map([["w-2", found]]), (name) =>
        nodes.includes(name),
      ).map(({ name }) => name);
    const unread = { unread: "does not answer" };
    assert.deepEqual([find(unread), find(unread, "w-1"), find(unread, "w-2")], [[], [], ["w-2"]]);
  });

  it("is a step of the control planes' group when it is lost before its join set a label", () => {
    const node = (name: string, fields: Partial<ObservedNode> = {}): ObservedNode => ({
      ...{ name, controlPlane: false, ready: false, version: "v1.36.3", internalAddress: "10.0.0.9" },
      ...{ labels: {}, taints: [], ownedLabels: [], ownedTaints: [], unschedulable: false, ...fields },
    });
    const observed = [node("w-2"), node("w-3"), node("w-4"), node("cp-2", { controlPlane: true })];
    const plan = (group: string) =>
      planMembership({
        ...{ group, desired: [], recorded: [], lost: ["w-2", "w-4", "cp-2"], elsewhere: ["w-4"], observed },
      }).steps.map(nodeGroupSteps.format);
    assert.deepEqual(plan("workers"), []);
    assert.deepEqual(plan(CONTROL_PLANE_GROUP), [
      "w-2: lost, delete its Node",
      "cp-2: lost, remove its etcd member, delete its Node",
    ]);
  });

  it("is a step of the preview, with its etcd member if it is a control plane", () => {
    const plan = (group: string, interrupted: RecordedMachine[], recorded: string[] = []) =>
      planMembership({ group, desired: [], recorded, interrupted, lost: [] }).steps.map(
        nodeGroupSteps.format,
      );
    const begun = "prepared by a run that was interrupted; cordon, drain,";
    assert.deepEqual(plan("workers", [left("w-2", "workers")]), [
      `w-2: ${begun} kubeadm reset, delete its Node`,
    ]);
    assert.deepEqual(plan(CONTROL_PLANE_GROUP, [left("cp-2", CONTROL_PLANE_GROUP), left("b-1", "batch")]), [
      `cp-2: ${begun} remove its etcd member, kubeadm reset, delete its Node`,
      `b-1: ${begun} kubeadm reset, delete its Node`,
    ]);
    assert.deepEqual(plan("workers", [left("w-2", "workers")], ["w-2"]), [
      "w-2: cordon, drain, kubeadm reset, delete its Node",
    ]);
  });
});
