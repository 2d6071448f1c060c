import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { NODE_PATHS } from "../../../../../providers/kubeadm/plan/cluster/node-paths";
import { AGENT_INSTALLED, joinData } from "../../../../../providers/kubeadm/machine/steps";
import { ShellMachine } from "./run-shell";

const { member: MEMBER, scratch: SCRATCH } = NODE_PATHS;
const FAKES = `
refuse_unprepared() { :; }; refuse_other_preparation() { :; }; await_containerd() { :; }; install_kubernetes() { :; }; import_images() { :; }
record_configuration() { :; }; start_agent() { touch /run/agent-started; }`;

interface Situation {
  readonly agent: boolean;
  /** Commands in place of those that write the agent. */
  readonly installation?: string;
  readonly kubeadm?: string;
  /** Commands before the step. */
  readonly before?: string;
}

/** Joins a machine. */
function join({ agent, installation = ":", kubeadm = ":", before = ":" }: Situation) {
  const host = new ShellMachine();
  host.write(`${SCRATCH}/README`, "");
  host.write("/var/lib/foresail/README", "");
  host.write("/var/lib/kubelet/pki/kubelet-client-current.pem", "");
  host.program("systemctl", "echo 999999999999999");
  host.program("kubeadm", `cd ${host.root}; ${kubeadm}`);
  const { status, stdout, stderr } = host.step(
    "membership/join",
    { AGENT: agent, MACHINE: "w-3" },
    ["common/kubeadm"],
    {
      data: joinData({ configuration: "c", discovery: "d" }),
      fakes: `${FAKES}; ${before}; write_agent() { cd ${host.root}; ${installation}; }`,
    },
  );
  const has = (file: string) => existsSync(host.path(file));
  return {
    status,
    stderr,
    answer: stdout.trim(),
    isMember: has(MEMBER),
    isStarted: has("/run/agent-started"),
  };
}

describe("the agent of a joining machine", () => {
  it("is installed while kubeadm joins, and the answer says so", () => {
    const found = join({
      agent: true,
      installation: "until test -e joining; do sleep 0.05; done; test ! -e joined; touch written",
      kubeadm: "touch joining; until test -e written; do sleep 0.05; done; touch joined",
    });
    assert.equal(found.status, 0, found.stderr);
    assert.deepEqual([found.answer, found.isMember, found.isStarted], [AGENT_INSTALLED, true, true]);
  });

  it("does not fail the join when it can't be installed", () => {
    const { status, answer, isMember, isStarted } = join({ agent: true, installation: "false" });
    assert.equal(status, 0);
    assert.match(answer, /^the node agent is not installed/);
    assert.deepEqual([isMember, isStarted], [true, false]);
  });

  it("does not fail the join when the caller is gone", () => {
    const { status, isMember, isStarted } = join({
      agent: true,
      before: "trap : PIPE; exec 4> >(:); wait $!",
    });
    assert.deepEqual([status, isMember, isStarted], [0, true, true]);
  });

  it("is left alone unless the join is to install it", () => {
    const { status, answer, isMember, isStarted } = join({ agent: false });
    assert.deepEqual([status, answer, isMember, isStarted], [0, "", true, false]);
  });

  it("makes no member of a machine that kubeadm can't join", () => {
    const { status, answer, isMember } = join({ agent: true, kubeadm: "false" });
    assert.deepEqual([status, answer, isMember], [1, "", false]);
  });
});
