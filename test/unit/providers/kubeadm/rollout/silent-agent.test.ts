import assert from "node:assert/strict";
import { AuthenticationRefused, SshCommandError } from "../../../../../lib/ssh/errors";
import type { Script } from "../../../../../providers/kubeadm/machine/steps";
import type { RolloutNode } from "../../../../../providers/kubeadm/plan/rollout/observed";
import {
  type AgentPatience,
  awaitedBack,
  awaitedOfAgent,
  hasBegun,
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

  it("is waited for by a node that goes back", () => {
    const missed = { configuration: "two" };
    assert.equal(awaitedBack(node({ agentReady: false }), missed), "end");
    assert.equal(awaitedBack(node(), {}), "begin");
    assert.equal(awaitedBack(node(), missed), undefined);
    assert.equal(awaitedBack(node({ ready: false }), missed), undefined);
  });

  it("may have left a part of a change when it has begun, or the kubelet is not what it installed", () => {
    assert.equal(hasBegun(node()), false);
    assert.equal(hasBegun(node({ current: { kubelet: version } })), false);
    const begun: Partial<RolloutNode>[] = [
      { agentReady: false },
      { goingBack: true },
      { current: { kubelet: "1.36.2" } },
      { current: { kubeadm: "1.36.4" } },
    ];
    for (const over of begun) assert.equal(hasBegun(node(over)), true, JSON.stringify(over));
  });

  it("writes when any of its words change", () => {
    const texts = [node(), node({ agentReady: false }), node({ message: "a" }), node({ current: {} })];
    assert.equal(new Set(texts.map(writtenByAgent)).size, texts.length);
  });
});

describe("a run that waits for a node agent", function () {
  this.timeout(20_000);
  const BROKEN = "systemd does not start foresail-node-agent";
  const SOON = { look: { begin: 0, end: 0 }, idle: { begin: 0, end: 0 }, anew: 0, refused: 0 };

  /** Waits for an agent. @param answer what its machine answers to the n-th look */
  async function wait(
    answer: (look: number) => string,
    {
      looks: most = 2,
      of = node(),
      patience = SOON,
    }: { looks?: number; of?: RolloutNode; patience?: AgentPatience } = {},
  ) {
    const lines: string[] = [];
    const asked: string[] = [];
    const session = {
      inputs: { machines: [{ name: "w-1" }] },
      progress: (line: string) => lines.push(line),
      run: async (_machine: unknown, step: (cluster: string, machine: string) => Script) => {
        const { text } = step("demo", "w-1");
        asked.push(
          [...text.matchAll(/^(?:END|PAUSES|IDLE_SUM)='(.*)'$/gm)].map(([, value]) => value).join(" "),
        );
        return Promise.resolve(answer(asked.length));
      },
    };
    const watch = new AgentWatch(
      session as never,
      "w-1",
      (seen) => awaitedOfAgent(seen, ASKED),
      patience,
      20,
    );
    watch.saw(of);
    const failure = await watch
      .during(async (signal) => {
        while (asked.length < most && !signal.aborted)
          await new Promise((resolve) => setTimeout(resolve, 20));
      })
      .then(
        () => undefined,
        (error: unknown) => error as Error,
      );
    return { failure, looks: asked.length, lines, asked };
  }
  const refusing = (code: number) => () => {
    const printed = { stderr: BROKEN, greeting: "", hasBegun: true };
    throw new SshCommandError("w-1", "start-agent w-1", code, undefined, printed, "root");
  };
  const target = { name: "w-1", address: "192.0.2.1", port: 22, user: "root" };
  const refused = () => {
    throw new AuthenticationRefused(target, "it accepts none of the keys");
  };

  it("says that it started one", async () => {
    const { failure, lines } = await wait(() => "started\n", { looks: 1 });
    assert.equal(failure, undefined);
    assert.deepEqual(lines, ["w-1: its node agent did not run and was started"]);
  });

  it("looks again at one that runs, and ends with the wait", async () => {
    const { failure, lines, looks } = await wait(() => "runs\n");
    assert.deepEqual([failure, lines, looks], [undefined, [], 2]);
  });

  it("says what one says that has not begun", async () => {
    const { lines } = await wait(() => "says the API server does not answer yet\u001b[2J\n");
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? "", /^w-1: its node agent says: the API server does not answer yet/);
    assert.ok(!lines[0]?.includes("\u001b"));
  });

  it("ends one that does nothing once, and then lets it be stopped", async () => {
    const { lines, asked } = await wait(() => "ended\n");
    assert.deepEqual(asked, ["restart no ", "stop no "]);
    assert.deepEqual(lines, ["w-1: its node agent did nothing and was started again"]);
  });

  it("leaves one alone that pauses after a failure, unless it is at work", async () => {
    const { asked } = await wait(() => "runs\n", { of: node({ message: "no" }), looks: 1 });
    assert.deepEqual(asked, ["restart yes "]);
  });

  it("ends one only when its processes have done nothing for long", async () => {
    const [one, other] = ["0123456789abcdef", "fedcba9876543210"];
    const at = { of: node({ agentReady: false }), looks: 3 };
    const idle = await wait((look) => (look === 2 ? "ended\n" : `works ${one}\n`), at);
    assert.deepEqual(idle.asked, ["restart no ", `restart no ${one}`, "stop no "]);
    const busy = await wait((look) => `works ${look % 2 ? one : other}\n`, {
      ...at,
      patience: { ...SOON, idle: { begin: 0, end: 100 } },
    });
    assert.deepEqual([...new Set(busy.asked)], ["restart no "]);
    // one that was started again has some time, too
    const anew = { ...at, of: node(), patience: { ...SOON, anew: 100 } };
    const again = await wait((look) => (look === 1 ? "ended\n" : `works ${one}\n`), anew);
    assert.deepEqual(again.asked, ["restart no ", "stop no ", "stop no "]);
  });

  it("ends with the reason of systemd", async () => {
    const { failure } = await wait(refusing(65));
    assert.ok(failure instanceof AgentStopped);
    assert.equal(failure.message, `the node agent on w-1 does not run and can't be started: ${BROKEN}`);
  });

  it("goes on while a machine can't be looked at, and says so once", async () => {
    const { failure, lines } = await wait(refusing(75), { looks: 3 });
    assert.equal(failure, undefined);
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? "", /whether the node agent of w-1 runs could not be seen: /);
  });

  it("ends soon when the machine refuses the login, unless the agent has begun", async () => {
    const { failure } = await wait(refused);
    assert.ok(failure instanceof AgentStopped);
    assert.match(failure.message, /^the node agent on w-1 does nothing: w-1 .*refused to log in root/);
    assert.equal((await wait(refused, { of: node({ agentReady: false }) })).failure, undefined);
    const patient = { ...SOON, refused: 100 };
    assert.equal((await wait(refused, { patience: patient })).failure, undefined);
  });

  it("refuses an answer that is none", async () => {
    const { lines } = await wait(() => "works $(reboot)\n");
    assert.match(lines[0] ?? "", /can't be read/);
  });
});
