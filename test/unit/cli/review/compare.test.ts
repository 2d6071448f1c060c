import assert from "node:assert/strict";
import type { ReviewedChange } from "../../../../cli/review/steps";
import { compareReview } from "../../../../cli/review/compare";
import {
  clusterOwnerSteps,
  nodeAgentsSteps,
  nodeGroupSteps,
  nodeRolloutSteps,
  type NodeRolloutStep,
} from "../../../../providers/kubeadm/plan/steps";
import { change } from "./changes";
import { UNKNOWN } from "../../../../lib/unknown";

const group = nodeGroupSteps.format;
const JOIN = (machine: string) => group({ kind: "join", machine, pool: "workers" });
const REJOIN = (machine: string) => group({ kind: "rejoin", machine, pool: "workers" });
const COMPLETE = (machine: string) => group({ kind: "complete", machine });
const REMOVE = (machine: string) => group({ kind: "remove", machine });
const UNTIL_CLUSTER = group({ kind: "unknown", until: "the cluster exists", wanted: ["w-1", "w-2"] });
const UNTIL_MACHINES = group({ kind: "unknown", until: "the machines exist" });
type Upgrade = Extract<NodeRolloutStep, { kind: "upgrade" }>;
const ROLL = (machine: string, over: Partial<Upgrade> = {}) =>
  nodeRolloutSteps.format({
    ...{ kind: "upgrade", machine, from: "1.35.4", to: "1.36.3", how: "kubeadm upgrade node" },
    ...over,
  });
const RESUMED = (machine: string, over: Partial<Upgrade> = {}) => ROLL(machine, { resumed: true, ...over });
const CONTAINERD = { software: [{ name: "containerd", from: "2.1.4", to: "2.2.0" }] };
const WRITE = (machine: string) => group({ kind: "writeFiles", machine, files: "/etc/a, /etc/b" });
const PACKAGES = (packages: string) => group({ kind: "installPackages", machine: "w-1", packages });
const PROGRAMS = (...programs: string[]) =>
  group({ kind: "installPrograms", machine: "w-1", programs, version: "1.36.3", source: "the bundle" });
const owner = (steps: readonly string[]) => change("owner", steps, { type: "ClusterOwner" });
const rollout = (steps: readonly string[]) => change("a", steps, { type: "NodeRollout" });

describe("a review compared with what would run now", () => {
  const rows: [string, ReviewedChange[], ReviewedChange[], string][] = [
    ["nothing, and nothing now", [], [], "same"],
    ["the same steps", [change("a", [JOIN("w-1")])], [change("a", [JOIN("w-1")])], "same"],
    ["all done", [change("a", [JOIN("w-1")])], [], "nothing left"],
    [
      "what is left of a preparation, from the group",
      [owner([WRITE("w-1"), WRITE("w-2")]), change("a", [JOIN("w-1"), JOIN("w-2")])],
      [change("a", [WRITE("w-2"), JOIN("w-1"), JOIN("w-2")])],
      "remainder",
    ],
    [
      "joins that are not known in a cluster of which the state has no kubeconfig",
      [owner([WRITE("w-1")]), change("a", [JOIN("w-1"), JOIN("w-2")])],
      [change("a", [UNTIL_CLUSTER])],
      "remainder",
    ],
    [
      "joins that are not known, of more machines than were reviewed",
      [change("a", [JOIN("w-1")])],
      [change("a", [UNTIL_CLUSTER])],
      "moved",
    ],
    [
      "another file of a preparation",
      [owner([WRITE("w-1")])],
      [owner([group({ kind: "writeFiles", machine: "w-1", files: "/etc/c" })])],
      "moved",
    ],
    [
      "what is left of a line, with the version of its lists",
      [
        owner([
          WRITE("w-1"),
          PACKAGES("socat 1.8, conntrack 1.4; or newer ones, since its lists of packages are read again"),
        ]),
      ],
      [owner([group({ kind: "writeFiles", machine: "w-1", files: "/etc/b" }), PACKAGES("socat 1.9")])],
      "remainder",
    ],
    [
      "a package with another version than the reviewed one",
      [owner([PACKAGES("socat 1.8, conntrack 1.4")])],
      [owner([PACKAGES("socat 1.9")])],
      "moved",
    ],
    [
      "a program that the reviewed line does not have",
      [owner([PROGRAMS("kubelet")])],
      [owner([PROGRAMS("kubeadm")])],
      "moved",
    ],
    [
      "a machine of another stack, of which nothing was known",
      [owner([UNTIL_MACHINES])],
      [owner([clusterOwnerSteps.format({ kind: "takeOver", machine: "w-1", from: "prod" })])],
      "moved",
    ],
    [
      "a preparation of a machine that did not answer",
      [owner([group({ kind: "unknown", until: "the machines answer", wanted: ["w-1"] })])],
      [owner([WRITE("w-1")])],
      "remainder",
    ],
    ["a suffix", [change("a", [JOIN("w-1"), JOIN("w-2")])], [change("a", [JOIN("w-2")])], "remainder"],
    [
      "one of several that ran side by side",
      [change("a", [JOIN("w-1"), JOIN("w-2"), JOIN("w-3")])],
      [change("a", [JOIN("w-1"), JOIN("w-3")])],
      "remainder",
    ],
    [
      "one resource done",
      [change("a", [JOIN("w-1")]), change("b", ["x: y"])],
      [change("b", ["x: y"])],
      "remainder",
    ],
    [
      "a join again, whose machine was reset",
      [change("a", [REJOIN("w-1")])],
      [change("a", [JOIN("w-1")])],
      "remainder",
    ],
    ["a join that became a reset", [change("a", [JOIN("w-1")])], [change("a", [REJOIN("w-1")])], "moved"],
    ["a step more", [change("a", [JOIN("w-1")])], [change("a", [JOIN("w-1"), JOIN("w-2")])], "moved"],
    ["a step twice", [change("a", [JOIN("w-1")])], [change("a", [JOIN("w-1"), JOIN("w-1")])], "moved"],
    ["another order", [change("a", ["w-1: a", "w-2: a"])], [change("a", ["w-2: a", "w-1: a"])], "moved"],
    ["another target", [rollout([ROLL("w-1")])], [rollout([ROLL("w-1", { to: "1.36.4" })])], "moved"],
    ["another resource", [change("a", ["x: y"])], [change("b", ["x: y"])], "moved"],
    ["a new resource without steps", [change("a")], [change("a"), change("b")], "moved"],
    ["an update that became a deletion", [change("a")], [change("a", [], { operation: "delete" })], "moved"],
    [
      "an update that became a replacement",
      [change("a")],
      [change("a", [], { operation: "replace" })],
      "moved",
    ],
    [
      "a create that failed half-way",
      [change("a", ["x: y"], { operation: "create" })],
      [change("a", ["x: y"], { operation: "update" })],
      "remainder",
    ],
    [
      "a replacement of which the deletion is left",
      [change("a", ["x: y"], { operation: "replace", inputs: { size: 1 } })],
      [change("a", [], { operation: "delete" })],
      "remainder",
    ],
    [
      "other inputs with the same steps",
      [change("a", ["x: y"], { inputs: { version: "1.36.3" } })],
      [change("a", ["x: y"], { inputs: { version: "1.36.4" } })],
      "moved",
    ],
    [
      "an input that was unknown and is known now",
      [change("a", ["x: y"], { inputs: { nested: { kubeconfig: UNKNOWN } } })],
      [change("a", ["x: y"], { inputs: { nested: { kubeconfig: "[secret]" } } })],
      "remainder",
    ],
    [
      "an input that was known and is unknown now",
      [change("a", ["x: y"], { inputs: { nested: ["k"] } })],
      [change("a", ["x: y"], { inputs: { nested: [UNKNOWN] } })],
      "moved",
    ],
    [
      "machines that joined a cluster which did not exist yet",
      [change("a", [UNTIL_CLUSTER])],
      [change("a", [JOIN("w-2")])],
      "remainder",
    ],
    [
      "a removal from a cluster which did not exist yet",
      [change("a", [UNTIL_CLUSTER])],
      [change("a", [REMOVE("w-2")])],
      "moved",
    ],
    [
      "a machine that was not wanted of a cluster which did not exist yet",
      [change("a", [UNTIL_CLUSTER])],
      [change("a", [JOIN("w-3")])],
      "moved",
    ],
    [
      "steps that can no longer be known",
      [change("a", [JOIN("w-1")])],
      [change("a", [UNTIL_MACHINES])],
      "moved",
    ],
    [
      "what machines that did not exist yet need",
      [change("a", [UNTIL_MACHINES], { type: "NodeAgents" })],
      [
        change("a", [nodeAgentsSteps.format({ kind: "install", machine: "w-1", version: "1.0.0" })], {
          type: "NodeAgents",
        }),
      ],
      "remainder",
    ],
    ...(
      [
        ["NodeGroup", REMOVE("w-1")],
        ["NodeGroup", group({ kind: "lose", machine: "w-1" })],
        ["NodeGroup", "w-1: a step of no known kind"],
        ["NodeRollout", ROLL("w-1")],
      ] as const
    ).map(([type, step]): [string, ReviewedChange[], ReviewedChange[], string] => [
      `machines that did not exist yet, and ${step}`,
      [change("a", [UNTIL_MACHINES], { type })],
      [change("a", [step], { type })],
      "moved",
    ]),
    [
      "machines that joined a cluster which did not exist yet, and the cluster's DNS",
      [change("a", [UNTIL_CLUSTER])],
      [change("a", [JOIN("w-2"), group({ kind: "spreadDns" })])],
      "remainder",
    ],
    [
      "a member whose reviewed join was interrupted before its Node had a label",
      [change("a", [JOIN("w-1"), JOIN("w-2")])],
      [change("a", [COMPLETE("w-2")])],
      "remainder",
    ],
    [
      "a member of a cluster which did not exist yet, before its Node had a label",
      [change("a", [UNTIL_CLUSTER])],
      [change("a", [COMPLETE("w-2")])],
      "remainder",
    ],
    [
      "a member without a label, whose join was not reviewed",
      [change("a", [JOIN("w-1")])],
      [change("a", [COMPLETE("w-2")])],
      "moved",
    ],
    [
      "a machine whose Node was deleted since",
      [change("a", [JOIN("w-1")])],
      [change("a", [group({ kind: "register", machine: "w-1" })])],
      "moved",
    ],
    [
      "a remark about a node that is not Ready",
      [change("a", [JOIN("w-1")])],
      [change("a", [JOIN("w-1"), group({ kind: "notReady", machine: "w-1", why: "no report" })])],
      "remainder",
    ],
    [
      "nodes that were under way together, the later one first",
      [rollout([ROLL("w-1"), ROLL("w-2"), ROLL("w-3")])],
      [rollout([RESUMED("w-2"), ROLL("w-1"), ROLL("w-3")])],
      "remainder",
    ],
    [
      "a node that was done but for its uncordoning",
      [rollout([ROLL("w-1", CONTAINERD), ROLL("w-2")])],
      [rollout([nodeRolloutSteps.format({ kind: "finish", machine: "w-1", to: "1.36.3" }), ROLL("w-2")])],
      "remainder",
    ],
    [
      "a node begun with a software that was not reviewed",
      [rollout([ROLL("w-1")])],
      [rollout([RESUMED("w-1", CONTAINERD)])],
      "moved",
    ],
    [
      "a node begun towards another version",
      [rollout([ROLL("w-1")])],
      [rollout([RESUMED("w-1", { to: "1.36.4" })])],
      "moved",
    ],
    [
      "a node that waits since a person cordoned another one",
      [rollout([ROLL("cp-1"), ROLL("w-1")])],
      [
        rollout([
          ROLL("cp-1"),
          nodeRolloutSteps.format({ kind: "cordoned", machine: "w-1", machines: ["w-2"] }),
        ]),
      ],
      "moved",
    ],
    ["a step begun by someone else", [rollout([ROLL("w-1")])], [rollout([RESUMED("w-2")])], "moved"],
  ];
  for (const [name, reviewed, current, kind] of rows) {
    it(`${name}: ${kind}`, () => assert.equal(compareReview(reviewed, current).kind, kind));
  }

  it("names the resource, the reason and both lists where it changed", () => {
    const verdict = compareReview([change("a", [JOIN("w-1")])], [change("a", [JOIN("w-2")]), change("b")]);
    assert.deepEqual(verdict, {
      kind: "moved",
      differences: [
        {
          name: "a",
          type: "NodeGroup",
          why: `not reviewed: ${JOIN("w-2")}`,
          reviewed: [JOIN("w-1")],
          current: [JOIN("w-2")],
        },
        {
          name: "b",
          type: "NodeGroup",
          why: "the review does not change it",
          reviewed: [],
          current: ["(update)"],
        },
      ],
    });
  });
});
