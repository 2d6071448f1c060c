import assert from "node:assert/strict";
import { WaitTimeout } from "../../../../../lib/wait";
import {
  annotationKeys,
  FAILED_CHANGE,
  GO_BACK,
} from "../../../../../providers/kubeadm/plan/rollout/annotations";
import type { OnFailure } from "../../../../../providers/kubeadm/plan/rollout/desired";
import { nextSteps } from "../../../../../providers/kubeadm/plan/rollout/next";
import { type NodeParts, observeRolloutNode } from "../../../../../providers/kubeadm/plan/rollout/observed";
import { NodeUpgrade } from "../../../../../providers/kubeadm/resources/rollout/one-node";
import { desiredFor, poolsOf } from "./nodes";

const KEYS = annotationKeys();
const OLD = "m1.k1";
const NEW = "m1.k2";
const FINAL = `kubelet@1.36.3 kubeadm@1.36.3 kubectl@1.36.3 configuration@${NEW}`;
const POLLS = 20;

interface Patch {
  metadata: { annotations: Record<string, string | null> };
  spec?: { unschedulable: true | null };
}

/** One worker that gets another configuration, with an agent that is called at each look at its Node. */
async function change(options: {
  agent: (annotations: Record<string, string>, node: Required<NodeParts>) => void;
  onFailure?: OnFailure;
  annotations?: Record<string, string>;
}) {
  const software = ["kubelet", "kubeadm", "kubectl"];
  const annotations: Record<string, string> = {
    ...Object.fromEntries(software.map((name) => [KEYS.current(name), "v1.36.3"])),
    [KEYS.current("configuration")]: OLD,
    [KEYS.ready]: "true",
    ...options.annotations,
  };
  const node: Required<NodeParts> = {
    metadata: { name: "w-1", labels: { "foresail/group": "w" }, annotations },
    spec: {},
    status: { conditions: [{ type: "Ready", status: "True" }], nodeInfo: { kubeletVersion: "v1.36.3" } },
  };
  const patches: Patch[] = [];
  const session = {
    inputs: {
      rollout: { nodeTimeoutSeconds: 60, ...(options.onFailure ? { onFailure: options.onFailure } : {}) },
    },
    progress: () => undefined,
    assertMayGoOn: () => Promise.resolve(),
    drain: () => Promise.resolve(void (node.spec.unschedulable = true)),
    kubernetes: {
      mergePatch: (_: unknown, patch: Patch) => {
        patches.push(patch);
        for (const [key, value] of Object.entries(patch.metadata.annotations))
          if (value === null) delete annotations[key];
          else annotations[key] = value;
        if (patch.spec) node.spec = patch.spec.unschedulable ? { unschedulable: true } : {};
        return Promise.resolve();
      },
    },
    untilNode: (
      _: string,
      what: string,
      seconds: number,
      decide: (node: NodeParts) => { done?: undefined } | { pending: string },
    ) => {
      let last = "";
      for (let poll = 0; poll < POLLS; poll++) {
        options.agent(annotations, node);
        const answer = decide(node);
        if (!("pending" in answer)) return Promise.resolve();
        last = answer.pending;
      }
      return Promise.reject(new WaitTimeout(what, last, seconds));
    },
  };
  const observed = observeRolloutNode(node);
  const desired = desiredFor([observed], "1.36.3", {
    clusterVersion: "1.36.3",
    configuration: { worker: NEW, "control-plane": "x" },
    pools: poolsOf([observed]),
  });
  const { begin, finish } = nextSteps([observed], desired);
  const [step] = [...finish, ...begin];
  assert.ok(step);
  const upgrade = new NodeUpgrade(
    session as never,
    { event: () => undefined } as never,
    step,
    observed,
    desired,
  );
  let failure = "";
  try {
    await upgrade.open();
    await upgrade.finish();
  } catch (error) {
    failure = `${(error as Error).constructor.name}: ${(error as Error).message}`;
  }
  return { failure, annotations, spec: node.spec, patches };
}

/** An agent that fails for good, and then does what is given when it is asked to go back. */
const failing =
  (back: (annotations: Record<string, string>) => void) =>
  (annotations: Record<string, string>): void => {
    if (annotations[KEYS.changesAllowed] === GO_BACK) return back(annotations);
    if (annotations[KEYS.desired("configuration")] !== NEW) return;
    Object.assign(annotations, { [KEYS.ready]: "false", [KEYS.message]: "no", [KEYS.finalFailure]: FINAL });
  };
const comesBack = failing((annotations) => {
  annotations[KEYS.ready] = "true";
  delete annotations[KEYS.message];
});

describe("the change of one node", () => {
  it("is taken back when it fails for good: the node takes pods, is asked for what it has, and keeps a record", async () => {
    const { failure, annotations, spec, patches } = await change({ agent: comesBack });
    assert.equal(failure, "NodeWentBack: w-1: no; w-1 went back to what it had, and takes pods again");
    assert.deepEqual(spec, {});
    assert.equal(annotations[KEYS.changesAllowed], "false");
    assert.equal(annotations[KEYS.desired("configuration")], OLD);
    assert.equal(annotations[KEYS.desired("kubelet")], "v1.36.3");
    assert.deepEqual(JSON.parse(annotations[FAILED_CHANGE] ?? ""), {
      asked: { configuration: NEW },
      why: "w-1: no",
    });
    // a kill between two writes would leave it open and uncordoned
    assert.deepEqual(patches.at(-1)?.spec, { unschedulable: null });
    assert.equal(patches.at(-1)?.metadata.annotations[KEYS.changesAllowed], "false");
  });

  it("is taken back when the node is not Ready with it in time", async () => {
    const { failure, annotations } = await change({
      agent: (found, node) => {
        const isBack = found[KEYS.changesAllowed] === GO_BACK;
        if (found[KEYS.desired("configuration")] === undefined) return;
        found[KEYS.current("configuration")] = isBack ? OLD : NEW;
        node.status.conditions = [{ type: "Ready", status: isBack ? "True" : "False", reason: "NoNetwork" }];
      },
    });
    assert.match(failure, /^NodeWentBack: waited 60 s for w-1 .* not Ready: NoNetwork; w-1 went back/);
    assert.equal(annotations[KEYS.desired("configuration")], OLD);
  });

  it("stays, with both reasons, when going back fails, and ignores the failure from before", async () => {
    let looks = 0;
    const agent = failing((annotations) => {
      // its last attempt ends after it was asked to go back
      const isBack = ++looks === 3;
      annotations[KEYS.finalFailure] = isBack ? "back" : FINAL;
      annotations[KEYS.message] = isBack ? "no installer" : "going back failed: no";
    });
    const { failure, annotations, spec } = await change({ agent });
    assert.equal(failure, "NodeRefused: w-1: no; no installer");
    assert.equal(looks, 3);
    assert.deepEqual(spec, { unschedulable: true });
    assert.equal(annotations[KEYS.changesAllowed], GO_BACK);
  });

  it("stays when it is to stop", async () => {
    const { failure, annotations } = await change({ agent: comesBack, onFailure: "stop" });
    assert.equal(failure, "NodeRefused: w-1: no; it stays so, since rollout.onFailure is stop");
    assert.equal(annotations[KEYS.changesAllowed], "true");
  });

  const done = (annotations: Record<string, string>) => {
    if (annotations[KEYS.changesAllowed] !== "true") return;
    const asked = annotations[KEYS.desired("configuration")];
    if (asked !== undefined) annotations[KEYS.current("configuration")] = asked;
    annotations[KEYS.ready] = "true";
  };

  it("goes on after a run that was killed while the node went back", async () => {
    const { failure, annotations, spec } = await change({
      agent: done,
      annotations: {
        [KEYS.changesAllowed]: GO_BACK,
        [KEYS.desired("configuration")]: NEW,
        [KEYS.ready]: "false",
      },
    });
    assert.equal(failure, "");
    assert.deepEqual(spec, {});
    assert.equal(annotations[KEYS.current("configuration")], NEW);
    assert.equal(annotations[KEYS.changesAllowed], "false");
  });

  it("removes the record of an earlier failure when it succeeds", async () => {
    const record = JSON.stringify({ asked: { configuration: NEW }, why: "no" });
    const { failure, annotations } = await change({ agent: done, annotations: { [FAILED_CHANGE]: record } });
    assert.equal(failure, "");
    assert.equal(annotations[FAILED_CHANGE], undefined);
  });
});
