import assert from "node:assert/strict";
import {
  assertAsked,
  datedSnapshot,
  describeSnapshot,
  expiredSnapshots,
  folderIssue,
  type KeptSnapshot,
  parseSnapshotFacts,
  recipientIssue,
  snapshotAt,
  snapshotMachine,
  snapshotName,
  withSnapshot,
} from "../../../../../providers/kubeadm/plan/backup/backup";
import type { RolloutStep } from "../../../../../providers/kubeadm/plan/rollout/desired";
import { nodeRolloutSteps, type NodeRolloutStep } from "../../../../../providers/kubeadm/plan/steps";

const NOW = Date.parse("2026-11-28T12:00:00Z");
const RECIPIENT = "age1afcnzkkgxqvmrckjmkmrygslvreg0ykpctzlzaagngvu9pa0hfcqcykksd";

const facts = {
  stack: "",
  machine: "cp-1",
  version: "1.36.3",
  revision: 1979,
  hash: 0x4cde,
  keys: 340,
  bytes: 1_900_000,
};
const kept = (hoursAgo: number, cluster = "demo"): KeptSnapshot => ({
  ...{ ...facts, cluster, file: `${cluster}-${hoursAgo}.age`, sha256: "" },
  taken: new Date(NOW - hoursAgo * 3_600_000).toISOString().replace(".000", ""),
});
const step = (node: string, { controlPlane = node.startsWith("cp"), resumed = false } = {}) =>
  ({ node, controlPlane, resumed }) as RolloutStep;
const line = ({ node }: RolloutStep): NodeRolloutStep => ({ kind: "finish", machine: node, to: "1.36.3" });

describe("the snapshots that stay", () => {
  const expired = (hours: readonly number[], keep: number, keepDays?: number, written = Math.min(...hours)) =>
    expiredSnapshots(
      hours.map((each) => kept(each)),
      { keep, ...(keepDays === undefined ? {} : { keepDays }) },
      kept(written),
      NOW,
    ).map(({ file }) => file);

  for (const [name, hours, keep, days, removed, written] of [
    ["as many as configured, whatever their order", [3, 1, 2], 2, undefined, ["demo-3.age"]],
    ["all, when there are fewer", [1, 2], 10, undefined, []],
    ["those of the last days", [1, 30, 50], 10, 2, ["demo-50.age"]],
    ["the newest one, however old it is", [500, 600], 10, 1, ["demo-600.age"]],
    ["the newest one, if only one stays", [1, 2], 1, undefined, ["demo-2.age"]],
    ["the one just written, if only one stays", [1, 2], 1, undefined, ["demo-1.age"], 2],
    ["the one just written, whatever its clock says", [1, 2, 900], 2, 5, ["demo-2.age"], 900],
    ["those before one from the future", [-900, 1, 2], 2, undefined, ["demo-2.age"], -900],
  ] as const)
    it(`are ${name}`, () => assert.deepEqual(expired(hours, keep, days, written), removed));

  it("include those of other clusters and stacks in the same folder", () => {
    const all = [kept(1), kept(2), kept(90, "other"), { ...kept(91), stack: "2f1c9c6e" }];
    const found = expiredSnapshots(all, { keep: 1, keepDays: 1 }, kept(1), NOW);
    assert.deepEqual(
      found.map(({ file }) => file),
      ["demo-2.age"],
    );
  });
});

describe("the step of a snapshot", () => {
  for (const [name, steps, at] of [
    ["precedes the first control plane", [step("w-1"), step("cp-1"), step("cp-2")], 1],
    ["is not needed for workers", [step("w-1"), step("w-2")], -1],
    ["is not needed without steps", [], -1],
    [
      "is not repeated when a control plane was begun by an earlier run, which has taken it",
      [step("cp-1", { resumed: true }), step("cp-2")],
      -1,
    ],
    ["is needed when only a worker was begun", [step("w-1", { resumed: true }), step("cp-1")], 1],
  ] as const)
    it(name, () => assert.equal(snapshotAt(steps), at));

  it("says where it is kept, for how many keys, and what stays; it is absent without `backup`", () => {
    const steps = [step("w-1"), step("cp-1")];
    const backup = { folder: "../backups, old", recipients: [RECIPIENT], keep: 10, keepDays: 90 };
    const lines = withSnapshot(steps, steps.map(line), "cp-1", backup).map(nodeRolloutSteps.format);
    assert.equal(
      lines[1],
      "cp-1: snapshot etcd to ../backups, old, encrypted for 1 recipient; the newest 10 of the last 90 days stay there",
    );
    assert.equal(lines.length, 3);
    assert.equal(nodeRolloutSteps.parse(lines[1] ?? "")?.kind, "snapshot");
    assert.equal(withSnapshot(steps, steps.map(line), "cp-1", undefined).length, 2);
  });

  it("is that of the first control plane", () => {
    const machines = [
      { role: "worker" as const, name: "w" },
      { role: "control-plane" as const, name: "c" },
    ];
    assert.equal(snapshotMachine(machines)?.name, "c");
    assert.equal(snapshotMachine([]), undefined);
  });
});

describe("the facts of a snapshot", () => {
  const sound = { ...facts, cluster: "demo", taken: "2026-11-28T00:15:33Z" };

  it("are read from the machine, and shown in words", () => {
    assert.deepEqual(parseSnapshotFacts("cp-1", JSON.stringify(sound)), sound);
    assert.equal(snapshotName(sound), "demo-20261128T001533Z");
    assert.equal(describeSnapshot(sound), "etcd at revision 1979 (hash 4cde, 340 keys, 2 MiB)");
  });

  for (const [name, change] of [
    ["a file name in the cluster's name", { cluster: "../x" }],
    ["a time that is none", { taken: "2026-13-28T00:15:33Z" }],
    ["a revision that is not a number", { revision: "1" }],
    ["a missing hash", { hash: undefined }],
    ["a stack that is not an identity", { stack: "prod" }],
  ] as const)
    it(`are refused with ${name}`, () => {
      assert.throws(
        () => parseSnapshotFacts("cp-1", JSON.stringify({ ...sound, ...change })),
        /cp-1 does not describe a snapshot/,
      );
    });
});

describe("the time of a snapshot", () => {
  for (const [taken, clock] of [
    ["2026-11-28T12:00:00Z", undefined],
    ["2026-11-28T11:55:00Z", undefined],
    ["2026-11-28T12:05:00Z", undefined],
    ["2026-11-28T11:00:00Z", /cp-1: its clock is 1 hour behind the clock here; .* 2026-11-28T12:00:00Z/],
    ["2026-11-28T12:05:01Z", /cp-1: its clock is 5 minutes ahead of the clock here/],
  ] as const)
    it(`${taken} is ${clock === undefined ? "that of its machine" : "replaced and named"}`, () => {
      const found = datedSnapshot({ machine: "cp-1", taken }, NOW);
      assert.equal(found.facts.taken, clock === undefined ? taken : "2026-11-28T12:00:00Z");
      if (clock === undefined) assert.equal(found.clock, undefined);
      else assert.match(found.clock ?? "", clock);
    });
});

describe("the snapshot that a machine answers", () => {
  const asked = { cluster: "demo", stack: "2f1c9c6e", machine: "cp-1" };
  it("is the one that was asked for", () => assert.doesNotThrow(() => assertAsked(asked, asked)));
  for (const change of [{ cluster: "other" }, { stack: "" }, { machine: "cp-2" }])
    it(`is refused with ${JSON.stringify(change)}`, () =>
      assert.throws(
        () => assertAsked({ ...asked, ...change }, asked),
        /cp-1 answers with a snapshot of another/,
      ));
});

describe("the folder", () => {
  for (const [folder, issue] of [
    ["../backups", undefined],
    ["/srv/backups of prod", undefined],
    ["~/backups", /which only a shell knows/],
    ["", /must not be empty/],
    ["a\nb", /./],
  ] as const)
    it(`${JSON.stringify(folder)} is ${issue === undefined ? "accepted" : "refused"}`, () => {
      const found = folderIssue(folder);
      if (issue === undefined) assert.equal(found, undefined);
      else assert.match(found ?? "", issue);
    });
});

describe("a recipient", () => {
  for (const [text, issue] of [
    [RECIPIENT, undefined],
    [`age1pq1${"q".repeat(1900)}`, undefined],
    ["AGE-SECRET-KEY-1QQQ", /is a private key/],
    [RECIPIENT.slice(0, -1), /is not a public key of age/],
    ["ssh-ed25519 AAAA", /is not a public key of age/],
  ] as const)
    it(`${text.slice(0, 24)} is ${issue === undefined ? "accepted" : "refused"}`, () => {
      const found = recipientIssue(text);
      if (issue === undefined) assert.equal(found, undefined);
      else assert.match(found ?? "", issue);
    });
});
