import assert from "node:assert/strict";
import type { ReportedFacts, Script } from "../../../../../providers/kubeadm/machine/steps";
import { assertClock, rebootIfRequired } from "../../../../../providers/kubeadm/resources/cluster/rebooting";
import { HostKeyMismatch, SshUnreachable } from "../../../../../lib/ssh";
import { WaitTimeout } from "../../../../../lib/wait";
import { exampleMachine } from "./examples";
import { ShellMachine } from "./run-shell";

const machine = exampleMachine("w-1");
const NOTHING: ReportedFacts = { member: false, controlPlane: false };
const REQUIRED: ReportedFacts = { ...NOTHING, rebootOf: "boot-1" };
const BACK: ReportedFacts = { ...NOTHING, rebootOf: "" };

type Session = Parameters<typeof rebootIfRequired>[0];

/** A machine that answers the requests for its facts one after another; the last answer stays. */
function answering(...answers: (ReportedFacts | Error)[]) {
  const operations: string[] = [];
  const lines: string[] = [];
  const run: Session["run"] = (_machine, step) => {
    const { operation } = (step as (cluster: string, name: string) => Script)("demo", machine.name);
    operations.push(operation);
    if (operation !== "facts") return Promise.resolve("");
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(JSON.stringify(answer));
  };
  const inputs = { timeouts: { prepare: 1 } } as Session["inputs"];
  return { session: { run, progress: (line: string) => void lines.push(line), inputs }, operations, lines };
}

const away = () => new SshUnreachable(machine, "refused", 1);

describe("a reboot before a machine joins", () => {
  it("does not happen without a need", async () => {
    for (const facts of [NOTHING, BACK]) {
      const { session, operations } = answering(facts);
      await rebootIfRequired(session, machine, facts);
      assert.deepEqual(operations, []);
    }
  });

  it("is requested once, and over when the machine answers from another boot", async () => {
    const { session, operations, lines } = answering(REQUIRED, away(), BACK);
    await rebootIfRequired(session, machine, REQUIRED);
    assert.deepEqual(operations, ["reboot", "facts", "facts", "facts"]);
    assert.match(lines[0] ?? "", /^w-1: rebooting before it joins/);
  });

  it("fails when the machine is not back in time, or another one answers", async () => {
    const waits = rebootIfRequired(answering(away()).session, machine, REQUIRED);
    await assert.rejects(
      waits,
      (error) => error instanceof WaitTimeout && /w-1 to come back/.test(error.what),
    );
    const mismatch = new HostKeyMismatch(machine, "a", "b");
    await assert.rejects(rebootIfRequired(answering(mismatch).session, machine, REQUIRED), HostKeyMismatch);
  });
});

describe("the clock of a machine that joins", () => {
  const now = () => Math.round(Date.now() / 1000);
  it("may differ by minutes, and is not compared when the machine does not tell it", () => {
    for (const facts of [NOTHING, ...[-280, 0, 280].map((by) => ({ ...NOTHING, clock: now() + by }))])
      assertClock({ name: "w-1" }, facts);
  });
  for (const [by, words] of [
    [-10_800, /the clock of w-1 is 3 hours behind the clock here .*timedatectl/],
    [310, /the clock of w-1 is 5 minutes ahead of the clock here/],
    // a machine without a battery
    [-now(), /days behind the clock here \(1970-01-01/],
  ] as const)
    it(`is refused ${by} seconds off, with both times`, () =>
      assert.throws(() => assertClock({ name: "w-1" }, { ...NOTHING, clock: now() + by }), words));
});

describe("the steps of a reboot, on a machine", () => {
  const PARAMETERS = { BOOT_ID: "/run/boot-id" };
  const prepared = (inContainer: boolean) => {
    const host = new ShellMachine();
    host.program("systemd-detect-virt", inContainer ? "exit 0" : "exit 1");
    host.program("systemctl", "[ $1 != is-active ] || exit 3");
    host.program("systemd-run", 'echo "$*"');
    host.program("date", "echo 1795695862");
    host.write("/run/boot-id", "boot-1\n");
    return host;
  };
  const step = (host: ShellMachine, name: string) => {
    const { stdout, stderr } = host.step(name, PARAMETERS, ["common/member"]);
    assert.equal(stderr, "");
    return stdout.trim();
  };

  it("report the clock, and the boot that new packages ask to end, but never that of a container's host", () => {
    for (const [inContainer, requires, rebootOf] of [
      [false, false, ""],
      [false, true, "boot-1"],
      [true, true, ""],
    ] as const) {
      const host = prepared(inContainer);
      if (requires) host.write("/run/reboot-required", "");
      const clock = 1795695862;
      // a host of container nodes has pods
      const { reset, ...facts } = JSON.parse(step(host, "cluster/facts")) as ReportedFacts;
      assert.equal(typeof reset, "boolean");
      assert.deepEqual(facts, {
        ...NOTHING,
        unnamed: false,
        rebootOf,
        clock,
      });
    }
  });

  it("report a member until it is reset by hand, which removes the credentials of its kubelet", () => {
    const host = prepared(false);
    const isMember = () => (JSON.parse(step(host, "cluster/facts")) as { member: boolean }).member;
    assert.equal(isMember(), false);
    host.write("/var/lib/foresail/member", "");
    assert.equal(isMember(), false);
    host.write("/etc/kubernetes/kubelet.conf", "");
    assert.equal(isMember(), true);
  });

  it("reboot after the step's end, and never a member", () => {
    const host = prepared(false);
    assert.match(step(host, "cluster/reboot"), /--on-active=1 .*systemctl reboot$/);
    host.write("/var/lib/foresail/member", "");
    assert.equal(step(host, "cluster/reboot"), "");
  });
});
