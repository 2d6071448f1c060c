import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import path from "node:path";
import { annotationKeys } from "../../../../../providers/kubeadm/plan/rollout/annotations";
import { AgentMachine, askedMachine, ASKED_VERSION as VERSION } from "./agent-machine";

const KEYS = annotationKeys();
const UNFINISHED = "/var/lib/foresail/agent/unfinished";

/** The calls since a point that keep files, or may write those of the cluster. */
const writes = ({ calls }: AgentMachine, from = 0) =>
  calls
    .slice(from)
    .filter((call) => /^kubeadm upgrade|^install configuration \S+ (keep|install)$/.test(call));

const APPLIED = [
  `install configuration ${VERSION} install`,
  "kubeadm upgrade node phase kubelet-config --kubeconfig [folder]/etc/kubernetes/kubelet.conf",
];
const withFolder = (machine: AgentMachine, calls: readonly string[]) =>
  calls.map((call) => call.replace("[folder]", machine.folder));

/** A machine whose request is to be tried once more, as by the next `up`. */
function tryAgain(machine: AgentMachine): string[] {
  machine.annotate(KEYS.finalFailure, "");
  const { length } = machine.calls;
  const { status, output } = machine.run("--once");
  assert.equal(status, 0, output);
  return writes(machine, length);
}

describe("a node agent that tries a second time", function () {
  this.timeout(120_000);

  it("applies a configuration that failed and went back, and lets kubeadm write nothing before it has kept the files", () => {
    const machine = askedMachine();
    machine.fail("phase kubelet-config", "error: no such field", 1);
    assert.equal(machine.run("--once").status, 1);
    assert.match(machine.annotations[KEYS.message] ?? "", /went back to its previous configuration$/);
    assert.deepEqual(tryAgain(machine), withFolder(machine, APPLIED));
  });

  it("does the same after a kill before the files were kept", async () => {
    const machine = askedMachine();
    await machine.killAt("before", `install configuration ${VERSION} install`);
    assert.equal(machine.read(UNFINISHED), "begun");
    assert.deepEqual(tryAgain(machine), withFolder(machine, APPLIED));
  });

  it("does the same after another version, whose change has come to its end", () => {
    const machine = askedMachine({ cluster: "1.36.3" });
    for (const name of ["kubeadm", "kubelet", "kubectl"]) machine.setVersion(name, "1.36.2");
    machine.fail("phase kubelet-config", "error: no such field", 1);
    assert.equal(machine.run("--once").status, 1);
    assert.deepEqual(writes(machine).slice(0, 2), [
      `install configuration ${VERSION} keep`,
      "kubeadm upgrade node --ignore-preflight-errors=Swap",
    ]);
    assert.deepEqual(tryAgain(machine), withFolder(machine, APPLIED));
  });

  for (const [what, text] of [
    ["was interrupted", "upgrading"],
    ["may have been interrupted, by an agent of before", "yes"],
  ] as const)
    it(`keeps the files of before, and lets kubeadm upgrade the whole node, when another version ${what}`, () => {
      const machine = askedMachine();
      machine.put(UNFINISHED, text);
      assert.deepEqual(
        tryAgain(machine),
        withFolder(machine, [
          `install configuration ${VERSION} keep`,
          "kubeadm upgrade node --ignore-preflight-errors=Swap",
          ...APPLIED,
        ]),
      );
      assert.equal(machine.read(UNFINISHED), "no");
    });

  describe("for a Node that takes long to be Ready with another version", () => {
    const changed = (machine: AgentMachine, from = 0) =>
      machine.calls
        .slice(from)
        .filter((call) =>
          /^kubeadm upgrade|^install .* install$|^systemctl (stop|restart) kubelet/.test(call),
        );

    /** A machine whose kubelet of another version has not reported that the Node is Ready. */
    function awaited(): AgentMachine {
      const machine = new AgentMachine({ cluster: "1.36.3" });
      machine.setDesired("1.36.3");
      machine.state("silent");
      return machine;
    }

    it("only waits on, until the rollout's limit: kubeadm and the kubelet do not begin again", async () => {
      const machine = awaited();
      const agent = machine.start();
      await machine.until(() => / \(try 3\)$/.test(machine.annotations[KEYS.message] ?? ""), "a third try");
      assert.equal(machine.read(UNFINISHED), "upgraded");
      machine.state("reports", "2100-01-01T00:00:00Z");
      await machine.until(() => machine.annotations[KEYS.ready] === "true", "the end");
      process.kill(-agent.pid!, "SIGKILL");
      assert.deepEqual(changed(machine), [
        ...["kubeadm", "images"].map((name) => `install ${name} 1.36.3 install`),
        "kubeadm upgrade node --ignore-preflight-errors=Swap",
        ...["kubelet", "kubectl"].map((name) => `install ${name} 1.36.3 install`),
        "systemctl stop kubelet",
        "systemctl restart kubelet",
      ]);
      assert.equal(machine.read(UNFINISHED), "no");
    });

    it("restarts the kubelet, and no more, after a kill meanwhile", () => {
      const machine = awaited();
      assert.equal(machine.run("--once").status, 1);
      const { length } = machine.calls;
      rmSync(path.join(machine.folder, "state/silent"));
      const { status, output } = machine.run("--once");
      assert.equal(status, 0, output);
      assert.deepEqual(changed(machine, length), ["systemctl stop kubelet", "systemctl restart kubelet"]);
    });
  });

  it("tells its machine's other programs that it is at work", async () => {
    const machine = askedMachine();
    await machine.killAt("before", `install configuration ${VERSION} install`);
    assert.equal(machine.run("--accept", "/etc/kubernetes/pki/ca.crt").status, 75);
  });
});
