import assert from "node:assert/strict";
import { noteStages, partsOf, type Upgrade, wholeSeconds } from "../../../bench/upgrades";
import type { RolloutNode } from "../../../providers/kubeadm/plan/rollout/observed";

const TO = "1.36.3";

const worker: RolloutNode = {
  name: "w-1",
  controlPlane: false,
  pool: "workers",
  kubeletVersion: "1.35.4",
  ready: true,
  unschedulable: false,
  cordonedBefore: false,
  changesAllowed: false,
  agentReady: true,
  desired: { kubelet: "1.35.4" },
  current: { kubelet: "1.35.4" },
};

function seen(states: readonly Partial<RolloutNode>[]): Upgrade {
  const upgrade: Upgrade = {};
  states.forEach((state, second) => noteStages(upgrade, { ...worker, ...state }, TO, second));
  return upgrade;
}

describe("a worker's upgrade, as a watch sees it", () => {
  const asked = { unschedulable: true, desired: { kubelet: TO } };
  const done = { ...asked, kubeletVersion: TO, current: { kubelet: TO } };
  const rolledOut = seen([
    {},
    { unschedulable: true },
    asked,
    { ...asked, agentReady: false },
    { ...asked, agentReady: false, kubeletVersion: TO, ready: false },
    { ...asked, agentReady: false, kubeletVersion: TO },
    done,
    { ...done, unschedulable: false },
  ]);

  it("has all its stages in order when foresail rolls it out", () => {
    assert.deepEqual(rolledOut, { cordoned: 1, asked: 2, begun: 3, reported: 5, done: 6, uncordoned: 7 });
    assert.equal(partsOf([rolledOut]), "asked 1.0, begun 1.0, reported 2.0, done 1.0, uncordoned 1.0");
  });

  it("has the events that everyone sees when a script does it", () => {
    const upgraded = { unschedulable: true, kubeletVersion: TO };
    const upgrade = seen([
      { unschedulable: true },
      { ...upgraded, ready: false },
      upgraded,
      { kubeletVersion: TO },
    ]);
    assert.deepEqual(upgrade, { cordoned: 0, reported: 2, uncordoned: 3 });
    assert.equal(partsOf([upgrade]), "reported 2.0, uncordoned 1.0");
  });

  it("does not begin before the cordon, nor with leftovers of an earlier rollout", () => {
    const left = { kubeletVersion: TO, desired: { kubelet: TO }, current: { kubelet: TO } };
    assert.deepEqual(seen([left, { ...left, kubeletVersion: "1.35.4" }]), {});
  });

  it("is timed from the first cordon to the last return", () => {
    assert.equal(wholeSeconds([{ cordoned: 3, uncordoned: 9 }, rolledOut]), 8);
  });
});
