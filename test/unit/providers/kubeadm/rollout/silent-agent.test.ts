import assert from "node:assert/strict";
import { SshCommandError } from "../../../../../lib/ssh/errors";
import type { RolloutNode } from "../../../../../providers/kubeadm/plan/rollout/observed";
import {
  awaitedOfAgent,
  ignoresRequest,
  withdrawnRequest,
  writtenByAgent,
} from "../../../../../providers/kubeadm/plan/rollout/silent-agent";
import { AgentStopped, AgentWatch } from "../../../../../providers/kubeadm/resources/rollout/silent-agent";
import { nodeAt } from "./nodes";

const version = "1.36.3";
const HAS = { configuration: "one" };
const ASKED = { version, software: { configuration: "two" } };

const node = (over: Partial<RolloutNode> = {}): RolloutNode => ({
  ...nodeAt("w-1", version),
  agentReady: true,
  current: HAS,
  ...over,
});

describe("a node agent that writes nothing", () => {
  const awaited: [string, RolloutNode, Parameters<typeof awaitedOfAgent>[1], string | undefined][] = [
    ["that it begins", node(), ASKED, "begin"],
    ["that it begins, when it has never reported", node({ agentReady: undefined }), ASKED, "begin"],
    ["that it ends what it does", node({ agentReady: false }), ASKED, "end"],
    ["nothing, when the node has what was asked", node({ current: ASKED.software }), ASKED, undefined],
    ["nothing, when only the window is closed", node(), { version, software: undefined }, undefined],
    [
      "that it begins what an earlier run asked for",
      node({ desired: ASKED.software }),
      { version, software: undefined },
      "begin",
    ],
  ];
  for (const [title, found, asked, expected] of awaited)
    it(`is waited for: ${title}`, () => assert.equal(awaitedOfAgent(found, asked), expected));

  it("ignores a request only while its window is open and it says nothing", () => {
    const open = { changesAllowed: true, desired: ASKED.software };
    assert.equal(ignoresRequest(node(open)), true);
    for (const other of [
      { changesAllowed: false },
      { agentReady: false },
      { message: "no" },
      { goingBack: true as const },
      { current: ASKED.software },
    ])
      assert.equal(ignoresRequest(node({ ...open, ...other })), false, JSON.stringify(other));
  });

  it("is no longer asked for more than its node has", () =>
    assert.deepEqual(withdrawnRequest({ configuration: "two", kubelet: version }, { kubelet: version }), {
      configuration: null,
      kubelet: version,
    }));

  it("writes when any of its words change", () => {
    const texts = [node(), node({ agentReady: false }), node({ message: "a" }), node({ current: {} })];
    assert.equal(new Set(texts.map(writtenByAgent)).size, texts.length);
  });
});

describe("a run that waits for a node agent", function () {
  this.timeout(20_000);
  const BROKEN = "systemd does not start foresail-node-agent";

  /** Waits for an agent. @param start what its machine answers to the n-th look */
  async function wait(start: (look: number) => string, ends: (looks: number) => boolean) {
    const lines: string[] = [];
    let looks = 0;
    const session = {
      inputs: { machines: [{ name: "w-1" }] },
      progress: (line: string) => lines.push(line),
      run: async () => Promise.resolve(start(++looks)),
    };
    const watch = new AgentWatch(session as never, "w-1", ASKED, { begin: 0, end: 0 });
    watch.saw(node());
    const failure = await watch
      .during(async (signal) => {
        while (!ends(looks) && !signal.aborted) await new Promise((resolve) => setTimeout(resolve, 20));
      })
      .then(
        () => undefined,
        (error: unknown) => error as Error,
      );
    return { failure, looks, lines };
  }
  const refusing = (code: number) => () => {
    const printed = { stderr: BROKEN, greeting: "", hasBegun: true };
    throw new SshCommandError("w-1", "start-agent w-1", code, undefined, printed, "root");
  };

  it("says that it started one", async () => {
    const { failure, lines } = await wait(
      () => "started\n",
      (looks) => looks > 0,
    );
    assert.equal(failure, undefined);
    assert.deepEqual(lines, ["w-1: its node agent did not run and was started"]);
  });

  it("looks again at one that runs, and ends with the wait", async () => {
    const { failure, lines, looks } = await wait(
      () => "runs\n",
      (count) => count > 1,
    );
    assert.deepEqual([failure, lines, looks], [undefined, [], 2]);
  });

  it("ends with the reason of systemd", async () => {
    const { failure } = await wait(refusing(65), () => false);
    assert.ok(failure instanceof AgentStopped);
    assert.equal(failure.message, `the node agent on w-1 does not run and can't be started: ${BROKEN}`);
  });

  it("goes on while a machine can't be looked at, and says so once", async () => {
    const { failure, lines } = await wait(refusing(75), (looks) => looks > 2);
    assert.equal(failure, undefined);
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? "", /whether the node agent of w-1 runs could not be seen: /);
  });
});
