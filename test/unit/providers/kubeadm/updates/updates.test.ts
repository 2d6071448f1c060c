import assert from "node:assert/strict";
import {
  dueUpdates,
  listedUpdates,
  parseUpdates,
  type PendingUpdates,
  requestedUpdates,
  stagedUpdates,
  updatesVersion,
} from "../../../../../providers/kubeadm/plan/updates/updates";
import { annotationKeys } from "../../../../../providers/kubeadm/plan/rollout/annotations";
import type { DesiredRollout } from "../../../../../providers/kubeadm/plan/rollout/desired";
import { observeRolloutNode, pendingOf } from "../../../../../providers/kubeadm/plan/rollout/observed";
import { describeRolloutStep, planRollout } from "../../../../../providers/kubeadm/plan/rollout/plan";
import {
  assertPreviewedUpdates,
  updateNotes,
  updatesPreview,
  withUpdates,
} from "../../../../../providers/kubeadm/resources/updates/rollout";
import type { NodeRolloutInputs } from "../../../../../providers/kubeadm/resources/declarations";
import { desiredFor } from "../rollout/nodes";

const KEYS = annotationKeys();
const [ONE, OTHER] = ["0123456789ab", "ba9876543210"];
const REPORT = `${ONE} - 3 - openssl=3.0.15-1 tzdata=1:2026b-0+deb13u1`;

describe("a report of pending updates", () => {
  it("is parsed strictly, since it is from outside", () => {
    assert.deepEqual(parseUpdates(REPORT), {
      hash: ONE,
      count: 3,
      reboot: "reboot if the machine asks for it",
      packages: ["openssl=3.0.15-1", "tzdata=1:2026b-0+deb13u1"],
    });
    assert.deepEqual(parseUpdates(`none ${ONE} 0 never`), {
      completed: ONE,
      count: 0,
      reboot: "no reboot",
      packages: [],
    });
    assert.deepEqual(parseUpdates("unread E: \u001b[31mno"), { unread: "E: no" });
    for (const text of [
      undefined,
      "",
      "none",
      `${ONE} - 1`,
      `${ONE} - 1 later`,
      `${ONE} - 1 - a=1;reboot`,
      `${ONE} - 1 - A=1`,
      `${ONE}0 - 1 - a=1`,
      `${ONE} - 1 -\na=1`,
      `${REPORT}${" a=1".repeat(400)}`,
    ])
      assert.equal(parseUpdates(text), undefined, text);
  });

  const report = (text: string) => parseUpdates(text) as PendingUpdates;

  it("names what is pending, and counts what it has no room for", () => {
    assert.equal(listedUpdates(report(REPORT)), "openssl 3.0.15-1, tzdata 1:2026b-0+deb13u1 and 1 other");
    assert.equal(listedUpdates(report(`${ONE} - 1 - a=1`)), "a 1");
    assert.equal(listedUpdates(report(`${ONE} - 40 -`)), "40 packages");
  });

  for (const [what, text, due] of [
    ["updates", REPORT, ONE],
    ["a reboot alone", `${ONE} ${OTHER} 0 reboot`, ONE],
    ["nothing", `none ${ONE} 0 -`, undefined],
    ["a reboot that did not help", `${ONE} ${ONE} 0 reboot`, undefined],
    ["what could not be read", "unread no network", undefined],
    ["no report", undefined, undefined],
  ] as const)
    it(`asks for ${what}: ${due ?? "nothing"}`, () => assert.equal(dueUpdates(parseUpdates(text)), due));

  for (const [what, text, previewed, asked, request] of [
    ["until it is asked for", REPORT, ONE, undefined, ONE],
    ["while it is installed", REPORT, ONE, ONE, ONE],
    ["until its window is closed", `none ${ONE} 0 -`, ONE, ONE, ONE],
    ["no longer after that", `none ${ONE} 0 -`, ONE, undefined, undefined],
    ["although others are pending by now, which is refused", `${OTHER} - 1 - a=1`, ONE, undefined, ONE],
    ["nothing that no preview listed", REPORT, undefined, undefined, undefined],
  ] as const)
    it(`is requested in a run ${what}`, () =>
      assert.equal(requestedUpdates(parseUpdates(text), previewed, asked), request));

  it("has the version that was asked for once that is installed", () => {
    assert.equal(updatesVersion(parseUpdates(`none ${ONE} 0 -`), ONE), ONE);
    assert.equal(updatesVersion(parseUpdates(REPORT), ONE), "none");
    assert.equal(updatesVersion(undefined, ONE), "none");
  });

  it("is asked of agents by the name of what they list", () => {
    assert.deepEqual(stagedUpdates(undefined), {});
    for (const [security, reboot, name] of [
      [true, "whenRequired", "security"],
      [false, "whenRequired", "all"],
      [true, "never", "security-without-reboot"],
    ] as const)
      assert.deepEqual(stagedUpdates({ security, reboot }), { "os-updates": name });
  });
});

/** A node that reports these updates. */
function reporting(name: string, text: string | undefined, annotations: Record<string, string> = {}) {
  const isControlPlane = name.startsWith("cp");
  return observeRolloutNode({
    metadata: {
      name,
      labels: isControlPlane ? { "node-role.kubernetes.io/control-plane": "" } : {},
      annotations: {
        [KEYS.ready]: "true",
        ...(text === undefined ? {} : { [KEYS.current("os-updates")]: text }),
        ...annotations,
      },
    },
    status: {
      conditions: [{ type: "Ready", status: "True" }],
      nodeInfo: { kubeletVersion: "v1.36.3" },
    },
  });
}

const OS_UPDATES = { security: true, reboot: "whenRequired" as const };

/** The inputs of a rollout of these machines. */
function inputsOf(names: string[], over: object = {}): NodeRolloutInputs {
  return {
    machines: names.map((name) => ({ name, hostKey: `key of ${name}` })),
    rollout: { osUpdates: OS_UPDATES },
    reportingUpdates: names,
    ...over,
  } as unknown as NodeRolloutInputs;
}

const STEP = `update 3 packages of the operating system, list ${ONE} (cordon, drain, install these versions, reboot if the machine asks for it, uncordon): openssl 3.0.15-1, tzdata 1:2026b-0+deb13u1 and 1 other`;

describe("a rollout of updates of the operating system", () => {
  const linesOf = (nodes: ReturnType<typeof reporting>[], over: Partial<DesiredRollout> = {}) =>
    planRollout(nodes, desiredFor(nodes, over.version ?? "1.36.3", { clusterVersion: "1.36.3", ...over }));
  const requested = (nodes: ReturnType<typeof reporting>[], olds: object = {}, news: object = {}) => {
    const names = nodes.map(({ name }) => name);
    const preview = updatesPreview(nodes, inputsOf(names, olds), inputsOf(names, news));
    return { ...preview, nodes: nodes.map((node) => withUpdates(node, preview)) };
  };

  it("lists each node with what it gets, workers first, and nothing where nothing is pending", () => {
    const { nodes, updating } = requested([
      reporting("cp-1", REPORT),
      reporting("w-1", REPORT),
      reporting("w-2", "none - 0 -"),
      reporting("w-3", `${OTHER} - 0 reboot`),
    ]);
    assert.deepEqual(updating, { "cp-1": ONE, "w-1": ONE, "w-3": OTHER });
    assert.deepEqual(linesOf(nodes).steps.map(describeRolloutStep), [
      `w-1: ${STEP}`,
      "w-3: reboot, since its packages ask for it (cordon, drain, reboot, wait until Ready, uncordon)",
      `cp-1: ${STEP}`,
    ]);
    const idle = requested([reporting("w-1", "none - 0 -")]);
    assert.deepEqual([idle.updating, linesOf(idle.nodes).steps], [undefined, []]);
  });

  it("goes along with another version, whose line has its hash", () => {
    const { nodes } = requested([reporting("w-1", REPORT), reporting("cp-1", "none - 0 -")]);
    const { steps } = linesOf(nodes, { version: "1.36.4" });
    assert.deepEqual(steps.map(describeRolloutStep), [
      "cp-1 1.36.3 → 1.36.4 (cordon, drain, kubeadm upgrade apply, uncordon)",
      `w-1 1.36.3 → 1.36.4, os-updates none → ${ONE} (cordon, drain, kubeadm upgrade node, uncordon)`,
    ]);
    assert.deepEqual(updateNotes(nodes, steps, inputsOf(["w-1"]), inputsOf(["w-1"])), [
      `w-1: the updates ${ONE} of its operating system, reboot if the machine asks for it: openssl 3.0.15-1, tzdata 1:2026b-0+deb13u1 and 1 other`,
    ]);
  });

  for (const [what, olds, news] of [
    ["until a run has seen its report", { reportingUpdates: [] }, {}],
    ["when other updates are asked for", { rollout: { osUpdates: { ...OS_UPDATES, security: false } } }, {}],
    ["before the setting was recorded", { rollout: {} }, {}],
    ["of a machine that was replaced", { machines: [{ name: "w-1", hostKey: "another" }] }, {}],
    ["without the setting", {}, { rollout: {} }],
  ] as const)
    it(`installs nothing ${what}`, () => {
      const node = reporting("w-1", REPORT);
      const { nodes, updating } = requested([node], olds, news);
      assert.deepEqual([updating, linesOf(nodes).steps], [undefined, []]);
      const notes = updateNotes(nodes, [], inputsOf(["w-1"], olds), inputsOf(["w-1"], news));
      const isAsked = !("rollout" in news);
      assert.equal(notes.length, isAsked ? 1 : 0);
      if (isAsked) assert.match(notes[0]!, /^the next preview lists the pending updates of w-1, which/);
    });

  it("says which reports could not be read", () => {
    const node = reporting("w-1", "unread E: \u0007no network");
    const inputs = inputsOf(["w-1"]);
    assert.deepEqual(updateNotes([node], [], inputs, inputs), [
      "w-1: the pending updates of its operating system could not be read: E: \\u{7}no network",
    ]);
  });

  it("continues what an earlier run began, and closes its window when the agent has completed it", () => {
    const open = { [KEYS.changesAllowed]: "true", [KEYS.desired("os-updates")]: ONE };
    const begun = requested([reporting("w-1", REPORT, open)]);
    assert.deepEqual(linesOf(begun.nodes).steps.map(describeRolloutStep), [
      `w-1: begun by an earlier run: ${STEP}`,
    ]);
    const done = requested([reporting("w-1", `none ${ONE} 0 -`, open)]);
    assert.deepEqual(linesOf(done.nodes).steps.map(describeRolloutStep), [
      "w-1 1.36.3 (begun by an earlier run: uncordon)",
    ]);
  });

  it("takes the request back where the setting was removed", () => {
    const open = { [KEYS.changesAllowed]: "true", [KEYS.desired("os-updates")]: ONE };
    for (const text of [REPORT, undefined]) {
      const { nodes } = requested([reporting("w-1", text, open)], {}, { rollout: {} });
      assert.deepEqual(linesOf(nodes).steps.map(describeRolloutStep), [
        `w-1: back to os-updates none (an earlier run asked for ${ONE}) (cordon, drain, complete what had begun on it, uncordon)`,
      ]);
    }
  });

  it("waits until the agent has completed what was asked for, not another list", () => {
    const asked = { version: "1.36.3", software: { "os-updates": ONE } };
    const at = (text: string) =>
      pendingOf(reporting("w-1", text, { [KEYS.desired("os-updates")]: ONE }), asked);
    assert.match(at(REPORT) ?? "", /has not begun: os-updates none, not 0123456789ab/);
    assert.equal(at(`${OTHER} ${ONE} 1 - a=1`), undefined);
  });

  it("refuses before a node begins when other updates are pending than were previewed", () => {
    assertPreviewedUpdates(reporting("w-1", REPORT), ONE);
    assertPreviewedUpdates(reporting("w-1", undefined), undefined);
    for (const [text, now] of [
      [`${OTHER} - 1 - a=1`, /\(0123456789ab\): ba9876543210: a 1; nothing was changed/],
      ["none - 0 -", /: none is pending;/],
      ["unread no", /could not be read: no/],
      [undefined, /it reports none/],
    ] as const)
      assert.throws(() => assertPreviewedUpdates(reporting("w-1", text), ONE), now);
  });
});
