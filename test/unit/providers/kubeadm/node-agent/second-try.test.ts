import assert from "node:assert/strict";
import { annotationKeys } from "../../../../../providers/kubeadm/plan/rollout/annotations";
import { askedMachine, ASKED_VERSION as VERSION, type AgentMachine } from "./agent-machine";

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
  this.timeout(60_000);

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

  it("tells its machine's other programs that it is at work", async () => {
    const machine = askedMachine();
    await machine.killAt("before", `install configuration ${VERSION} install`);
    assert.equal(machine.run("--accept", "/etc/kubernetes/pki/ca.crt").status, 75);
  });
});
