import assert from "node:assert/strict";
import type { ReadFacts } from "../../../../../providers/kubeadm/plan/facts/machine-facts";
import { parseMachineMark } from "../../../../../providers/kubeadm/plan/facts/machine-mark";
import type { ObservedNode } from "../../../../../providers/kubeadm/plan/membership/nodes";
import { wantedLabels } from "../../../../../providers/kubeadm/plan/membership/nodes";
import { planMembership } from "../../../../../providers/kubeadm/plan/membership/plan";
import {
  INSTALLED_ANEW,
  mayBeReset,
  resetMachines,
  wereReset,
} from "../../../../../providers/kubeadm/plan/membership/reset";
import { exampleMachine } from "../machine/examples";

const ID = "9a1c9c6e-3d0a-4a58-9f3e-0c8f7a5d1b42";
const SELF = { id: ID, stack: "org/shop/prod" };
const markOf = (machine: string, id = ID) => `cluster=demo machine=${machine} stack=org/shop/prod id=${id}`;
const said = (mark: string, member?: true): ReadFacts => ({
  ...{ mark: parseMachineMark(mark), identity: "" },
  ...(member ? { member } : {}),
});
const machine = exampleMachine("w-2");
const node = (over: Partial<ObservedNode> = {}): ObservedNode => ({
  ...{
    name: "w-2",
    group: "workers",
    controlPlane: false,
    ready: false,
    reason: "no word",
    version: "1.36.3",
  },
  ...{ internalAddress: machine.internalAddress, labels: wantedLabels(machine), taints: [] },
  ...{ ownedLabels: [], ownedTaints: [], unschedulable: false, ...over },
});

describe("a machine that was reset by hand, while its Node is in the cluster", () => {
  it("is asked only if its Node is there, and not Ready or about to leave, and the state has it", () => {
    const asked = (recorded: string[], observed?: ObservedNode[]) =>
      mayBeReset([machine], recorded, observed).map(({ name }) => name);
    assert.deepEqual(asked(["w-2"], [node()]), ["w-2"]);
    assert.deepEqual(asked(["w-2"], [node({ ready: true })]), []);
    assert.deepEqual(asked(["w-2"], [node({ ready: true, removal: "cordoned" })]), ["w-2"]);
    assert.deepEqual(asked([], [node()]), []);
    assert.deepEqual(asked(["w-2"], []), []);
    assert.deepEqual(asked(["w-2"]), []);
  });

  const answers: [what: string, facts: ReadFacts, is: "reset" | "empty" | undefined][] = [
    ["a member", said(markOf("w-2"), true), undefined],
    ["no member, with this stack's mark", said(markOf("w-2")), "reset"],
    ["no member, with an earlier release's mark", said("cluster=demo machine=w-2"), "reset"],
    ["no member, without a mark", said(""), "empty"],
    ["another machine of this stack", said(markOf("w-3")), undefined],
    ["another stack's", said(markOf("w-2", "0b9e2d11-6a3f-4c2b-8d57-1f1f3f0a7c3d")), undefined],
    ["no answer", { unread: "refused" }, undefined],
  ];
  for (const [what, facts, is] of answers)
    it(`is recognized by what it says: ${what}`, () => {
      const { reset, empty } = resetMachines(SELF, "demo", new Map([["w-2", facts]]));
      assert.deepEqual([reset, empty], [is === "reset" ? ["w-2"] : [], is === "empty" ? ["w-2"] : []]);
    });

  it("is refused while its own removal is not complete, which may have taken its mark", () => {
    for (const mark of ["", markOf("w-2")]) {
      const found = resetMachines(SELF, "demo", new Map([["w-2", said(mark)]]), () => true);
      assert.deepEqual(found, { reset: [], empty: [], leaving: ["w-2"] });
    }
    assert.match(
      wereReset(["w-2"], "removal"),
      /w-2 was reset: a removal was interrupted; take the machine out/,
    );
  });

  const plan = (gone: Parameters<typeof planMembership>[0]["gone"], observed = node()) =>
    planMembership({
      ...{ group: "workers", desired: [machine], recorded: ["w-2"], lost: [], observed: [observed] },
      ...(gone ? { gone } : {}),
    });

  it("joins again; one that is only not Ready does not", () => {
    assert.deepEqual(
      plan({ reset: ["w-2"] }).steps.map(({ kind }) => kind),
      ["join", "spreadDns"],
    );
    assert.deepEqual(plan(undefined).steps, []);
  });

  it("has a note that says what helps when it was reinstalled", () => {
    const notes = (gone: Parameters<typeof planMembership>[0]["gone"]) =>
      plan(gone).notes.map((note) => "why" in note && note.why);
    assert.deepEqual(notes({ empty: ["w-2"] }), [INSTALLED_ANEW]);
    assert.deepEqual(notes(undefined), ["no word"]);
  });
});
