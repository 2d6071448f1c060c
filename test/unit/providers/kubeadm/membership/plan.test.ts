import assert from "node:assert/strict";
import fc from "fast-check";
import { planMembership, refuseGroupChange } from "../../../../../providers/kubeadm/plan/membership/plan";
import {
  type ObservedNode,
  labelChanges,
  taintChanges,
  taintDifference,
  taintId,
  wantedLabels,
  type OwnedKeys,
  ownershipAfter,
  recordedOwnership,
  withOwnership,
} from "../../../../../providers/kubeadm/plan/membership/nodes";
import {
  quorum,
  refuseMajorityRemoval,
  refuseMemberAddition,
  refuseMemberRemoval,
  staleMember,
} from "../../../../../providers/kubeadm/plan/membership/quorum";
import type { Machine } from "../../../../../providers/kubeadm/plan/cluster/machine";
import { nodeGroupSteps } from "../../../../../providers/kubeadm/plan/steps";
import { exampleMachine } from "../machine/examples";

/** A Node just as foresail leaves it for a machine. */
function nodeOf(machine: Machine, over: Partial<ObservedNode> = {}): ObservedNode {
  return {
    name: machine.name,
    group: machine.group,
    controlPlane: machine.role === "control-plane",
    ready: true,
    version: "1.36.3",
    internalAddress: machine.internalAddress,
    labels: wantedLabels(machine),
    taints: machine.taints,
    ownedLabels: Object.keys(wantedLabels(machine)),
    ownedTaints: machine.taints.map(taintId),
    unschedulable: false,
    ...over,
  };
}

const workers = [1, 2, 3, 9, 10].map((index) => exampleMachine(`w-${index}`));
const plan = (over: Partial<Parameters<typeof planMembership>[0]>) =>
  planMembership({ group: "workers", desired: [], recorded: [], lost: [], observed: [], ...over });

describe("membership plan", () => {
  it("does nothing when every machine is in the cluster as desired", () => {
    const result = plan({
      desired: workers,
      recorded: workers.map(({ name }) => name),
      observed: workers.map((w) => nodeOf(w)),
    });
    assert.deepEqual(result, { steps: [], notes: [] });
  });

  it("joins in the order of the configuration and removes the highest index first", () => {
    const [one, two, three, nine, ten] = workers as [Machine, Machine, Machine, Machine, Machine];
    const result = plan({
      desired: [two, one],
      recorded: ["w-3", "w-9", "w-10"],
      observed: [nodeOf(three), nodeOf(nine), nodeOf(ten)],
    });
    assert.deepEqual(
      result.steps.map((step) => ("machine" in step ? `${step.kind} ${step.machine}` : step.kind)),
      ["join w-2", "join w-1", "spreadDns", "remove w-10", "remove w-9", "remove w-3"],
    );
  });

  it("ends a removal that had begun of a machine that is configured again, and of no other", () => {
    const [one, two, three] = workers as [Machine, Machine, Machine];
    const result = plan({
      desired: [one, two],
      recorded: ["w-1", "w-2", "w-3"],
      observed: [
        nodeOf(one, { unschedulable: true, removal: "cordoned" }),
        nodeOf(two, { unschedulable: true, removal: "was-cordoned" }),
        nodeOf(three, { unschedulable: true, removal: "cordoned" }),
      ],
    });
    assert.deepEqual(result.steps, [
      { kind: "keep", machine: "w-1" },
      { kind: "keep", machine: "w-2", staysCordoned: true },
      { kind: "remove", machine: "w-3" },
    ]);
  });

  it("finishes an interrupted join: a Node without the group's label has not joined completely", () => {
    const [one] = workers as [Machine];
    const result = plan({ desired: [one], observed: [nodeOf(one, { group: undefined, labels: {} })] });
    assert.deepEqual(result.steps, [
      { kind: "join", machine: "w-1", pool: "workers" },
      { kind: "spreadDns" },
    ]);
  });

  it("finishes an interrupted removal, from the Node or only from the record", () => {
    const [one, two] = workers as [Machine, Machine];
    const node = nodeOf(one, { uid: "a" });
    assert.deepEqual(plan({ former: { "w-1": "a" }, observed: [node] }).steps, [
      { kind: "remove", machine: "w-1" },
    ]);
    assert.deepEqual(plan({ recorded: [two.name] }).steps, [{ kind: "remove", machine: "w-2" }]);
  });

  it("does not change the nodes of other groups or what users added", () => {
    const foreign = nodeOf(exampleMachine("w-7", { group: "other" }));
    const handMade = nodeOf(exampleMachine("w-8"), { group: undefined });
    assert.deepEqual(plan({ observed: [foreign, handMade] }).steps, []);
  });

  it("recognizes which of the leaving machines are lost", () => {
    const [one] = workers as [Machine];
    assert.deepEqual(plan({ observed: [nodeOf(one)], lost: ["w-1"] }).steps, [
      { kind: "lose", machine: "w-1" },
    ]);
  });

  it("removes dead members before it joins others, since etcd accepts no new member while a dead one counts", () => {
    const [one, two, three] = workers as [Machine, Machine, Machine];
    const result = plan({
      desired: [three],
      recorded: ["w-1", "w-2"],
      observed: [nodeOf(one), nodeOf(two)],
      lost: ["w-1"],
    });
    assert.deepEqual(
      result.steps.map((step) => ("machine" in step ? `${step.kind} ${step.machine}` : step.kind)),
      ["lose w-1", "join w-3", "spreadDns", "remove w-2"],
    );
  });

  it("plans from the record when the cluster can't be read", () => {
    const [one, two] = workers as [Machine, Machine];
    const result = plan({ desired: [one], recorded: [two.name], observed: undefined });
    assert.deepEqual(
      result.steps.map(({ kind }) => kind),
      ["join", "spreadDns", "remove"],
    );
  });

  it("remarks on a node that is not ready, without a step", () => {
    const [one] = workers as [Machine];
    const result = plan({
      desired: [one],
      observed: [nodeOf(one, { ready: false, reason: "KubeletStopped: x" })],
    });
    assert.deepEqual(result, {
      steps: [],
      notes: [{ kind: "notReady", machine: "w-1", why: "KubeletStopped: x" }],
    });
  });

  it("reaches the desired members from any state, and then plans nothing", () => {
    const subset = fc.subarray(workers);
    fc.assert(
      fc.property(subset, subset, subset, (desired, joined, recorded) => {
        const first = plan({
          desired,
          recorded: recorded.map(({ name }) => name),
          former: Object.fromEntries(joined.map(({ name }) => [name, "a"])),
          observed: joined.map((w) => nodeOf(w, { uid: "a" })),
        });
        const members = new Set(joined.map(({ name }) => name));
        for (const step of first.steps) {
          if (step.kind === "join") members.add(step.machine);
          if (step.kind === "remove") members.delete(step.machine);
        }
        assert.deepEqual([...members].sort(), desired.map(({ name }) => name).sort());
        const after = plan({
          desired,
          recorded: desired.map(({ name }) => name),
          observed: desired.map((w) => nodeOf(w)),
        });
        assert.deepEqual(after.steps, []);
      }),
    );
  });

  it("refuses to move a node between groups in one run", () => {
    const [one] = workers as [Machine];
    assert.match(
      refuseGroupChange("gpu", [one], [nodeOf(one)]) ?? "",
      /w-1 \(in workers\) can't move to gpu/,
    );
    assert.equal(refuseGroupChange("workers", [one], [nodeOf(one)]), undefined);
  });
});

describe("labels and taints of a node", () => {
  const machine = exampleMachine("w-1", {
    labels: { zone: "a" },
    taints: [{ key: "gpu", effect: "NoSchedule" }],
  });

  it("sets what is missing and removes only its own", () => {
    const node = nodeOf(machine, { labels: { mine: "x", stale: "y", zone: "b" }, ownedLabels: ["stale"] });
    assert.deepEqual(labelChanges(machine, node), {
      zone: "a",
      "foresail/group": "workers",
      "node-role.kubernetes.io/workers": "",
      stale: null,
    });
  });

  it("keeps other writers' taints and drops its own old ones", () => {
    const unreachable = { key: "node.kubernetes.io/unreachable", effect: "NoExecute" as const };
    const node = nodeOf(machine, {
      taints: [unreachable, { key: "old", effect: "NoSchedule" }],
      ownedTaints: ["old:NoSchedule"],
    });
    assert.deepEqual(taintChanges(machine, node), [unreachable, { key: "gpu", effect: "NoSchedule" }]);
    assert.equal(taintChanges(machine, nodeOf(machine)), undefined);
  });

  it("names each taint that is set or removed, and another value as one change", () => {
    const node = nodeOf(machine, {
      taints: [
        { key: "gpu", value: "old", effect: "NoSchedule" },
        { key: "old", value: "x", effect: "NoExecute" },
      ],
      ownedTaints: ["old:NoExecute"],
    });
    const { steps } = plan({ desired: [machine], recorded: ["w-1"], observed: [node] });
    assert.deepEqual(steps.map(nodeGroupSteps.format), [
      "w-1: taint gpu:NoSchedule, taint old=x:NoExecute removed",
    ]);
    assert.deepEqual(taintDifference([], []), { set: [], removed: [] });
  });
});

describe("what the stack set on a Node", () => {
  const bare = exampleMachine("w-1");
  const tainted = { ...bare, taints: [{ key: "gpu", effect: "NoSchedule" as const }] };
  const quarantine = { key: "quarantine", effect: "NoExecute" as const };
  const changesOf = (machine: Machine, node: ObservedNode, owned: OwnedKeys) =>
    taintChanges(machine, withOwnership([node], owned)[0]!);

  it("is what the state says, whatever the Node says", () => {
    const node = nodeOf(bare, { taints: [quarantine], ownedTaints: ["quarantine:NoExecute"] });
    assert.equal(changesOf(bare, node, recordedOwnership({ machines: [bare] })), undefined);
    assert.deepEqual(changesOf(tainted, node, {}), [quarantine, ...tainted.taints]);
  });

  it("is what the machines of older state desired", () => {
    const node = nodeOf(tainted, { taints: [quarantine, ...tainted.taints] });
    assert.deepEqual(changesOf(bare, node, recordedOwnership({ machines: [tainted] })), [quarantine]);
  });

  it("is still owned after a run that could not remove it, and no longer once it is gone", () => {
    const before = recordedOwnership({ machines: [tainted] });
    for (const observed of [undefined, [nodeOf(tainted)]])
      assert.deepEqual(ownershipAfter(before, [bare], observed)["w-1"]?.taints, ["gpu:NoSchedule"]);
    assert.deepEqual(ownershipAfter(before, [bare], [nodeOf(bare)])["w-1"]?.taints, []);
    assert.deepEqual(ownershipAfter(before, [], [nodeOf(tainted)]), {});
  });

  const taints = fc.uniqueArray(
    fc.record({
      key: fc.constantFrom("a", "b"),
      value: fc.constantFrom("", "x"),
      effect: fc.constantFrom("NoSchedule" as const, "NoExecute" as const),
    }),
    { selector: taintId },
  );
  it("never removes a taint that the configuration did not set", () => {
    fc.assert(
      fc.property(taints, taints, taints, (before, after, onNode) => {
        const owned = recordedOwnership({ machines: [{ ...bare, taints: before }] });
        const node = nodeOf(bare, { taints: onNode, ownedTaints: onNode.map(taintId) });
        const result = changesOf({ ...bare, taints: after }, node, owned) ?? onNode;
        const gone = onNode.filter((taint) => !result.some((kept) => taintId(kept) === taintId(taint)));
        const set = before.map(taintId);
        for (const taint of gone) assert.ok(set.includes(taintId(taint)), taintId(taint));
        for (const taint of after) assert.ok(result.some((have) => taintId(have) === taintId(taint)));
      }),
    );
  });

  it("restores the group of a Node that relabelled itself, and lets no other group remove it", () => {
    const node = nodeOf(bare, { group: "gpu", labels: { ...wantedLabels(bare), "foresail/group": "gpu" } });
    assert.equal(refuseGroupChange("workers", [bare], [node], ["w-1"]), undefined);
    const own = plan({ desired: [bare], recorded: ["w-1"], observed: [node] });
    assert.deepEqual(own.steps.map(nodeGroupSteps.format), ["w-1: label foresail/group=workers"]);
    assert.deepEqual(plan({ group: "gpu", elsewhere: ["w-1"], observed: [node] }).steps, []);
  });
});

describe("quorum", () => {
  it("refuses the removal of a majority at once", () => {
    const planes = ["cp-1", "cp-2", "cp-3"];
    assert.equal(refuseMajorityRemoval(planes, ["cp-3"]), undefined);
    assert.match(refuseMajorityRemoval(planes, ["cp-3", "cp-2"]) ?? "", /at most 1 in one run/);
    assert.match(refuseMajorityRemoval(["cp-1"], ["cp-1"]) ?? "", /majority/);
  });

  it("never leaves fewer healthy members than a quorum of those that remain", () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 7 }), fc.nat(6), (health, pick) => {
        const members = health.map((healthy, index) => ({
          id: `${index}`,
          name: `cp-${index}`,
          peerUrls: [],
          healthy,
        }));
        const leaving = members[pick % members.length]!.name;
        const staying = members.filter(({ name }) => name !== leaving);
        const allowed = refuseMemberRemoval(members, leaving) === undefined;
        const safe =
          staying.length > 0 && staying.filter(({ healthy }) => healthy).length >= quorum(staying.length);
        assert.equal(allowed, safe);
      }),
    );
  });

  it("adds no member beside one that does not answer, and says what to do", () => {
    const member = (name: string, healthy: boolean) => ({ id: name, name, peerUrls: [], healthy });
    assert.equal(refuseMemberAddition([member("cp-1", true), member("cp-2", true)], "cp-3"), undefined);
    assert.match(
      refuseMemberAddition([member("cp-1", false), member("cp-2", true)], "cp-3") ?? "",
      /^cp-3 can't join while etcd's member cp-1 does not answer: .* `lost`$/,
    );
  });

  it("finds the member of an interrupted join, by name or by address", () => {
    const machine = { name: "cp-2", internalAddress: "10.0.0.12" };
    const unnamed = { id: "2", name: "", peerUrls: ["https://10.0.0.12:2380"], healthy: false };
    assert.equal(staleMember([unnamed], machine), unnamed);
    assert.equal(staleMember([{ ...unnamed, peerUrls: ["https://10.0.0.13:2380"] }], machine), undefined);
    assert.equal(staleMember([{ ...unnamed, name: "cp-2" }], machine)?.id, "2");
  });
});
