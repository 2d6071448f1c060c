import assert from "node:assert/strict";
import {
  annotationKeys,
  BACK_FAILED,
  GO_BACK,
} from "../../../../../providers/kubeadm/plan/rollout/annotations";
import { askedMachine, ASKED_VERSION as VERSION, AgentMachine } from "./agent-machine";

const KEYS = annotationKeys();
const AGENT = "/var/lib/foresail/agent";
const KUBELET = "/var/lib/kubelet/config.yaml";

/** What a rollout writes to let a node go back. */
function askBack(machine: AgentMachine): void {
  machine.annotate(KEYS.changesAllowed, GO_BACK);
  machine.annotate(KEYS.finalFailure, "");
}

/** The calls that change the machine after a point, without what it writes to its Node. */
const workSince = ({ changes }: AgentMachine, from: number) =>
  changes.slice(from).filter((change) => !change.includes("annotate"));

/** A machine on which another version has failed. @param controlPlane with its static pods */
function failedUpgrade(from: string, controlPlane = false): AgentMachine {
  const machine = new AgentMachine({ version: from, staged: ["1.36.3"], controlPlane, cluster: "1.36.3" });
  for (const name of ["kubeadm", "kubelet", "kubectl", "images"])
    machine.put(`${AGENT}/former/${from}/${name}`, `stub-install ${name} ${from} "$1"\n`, 0o700);
  machine.put(KUBELET, "old\n");
  machine.setDesired("1.36.3");
  machine.fail("restart kubelet", "Job for kubelet.service failed", 1);
  assert.equal(machine.run("--once").status, 1);
  machine.put(KUBELET, "new\n");
  return machine;
}

describe("a node agent that is asked to go back", function () {
  this.timeout(120_000);

  it("has nothing more to do after it took a configuration back by itself, and applies the cluster's no more", () => {
    const machine = askedMachine();
    machine.fail("phase kubelet-config", "error: no such field", 24);
    assert.equal(machine.run("--once").status, 1);
    assert.match(machine.annotations[KEYS.message] ?? "", /went back to its previous configuration$/);
    const { length } = machine.changes;
    askBack(machine);
    const { status, output } = machine.run("--once");
    assert.equal(status, 0, output);
    // kubeadm would write the cluster's configuration, which is the one that failed
    assert.deepEqual(workSince(machine, length), []);
    assert.equal(machine.annotations[KEYS.ready], "true");
    assert.equal(machine.annotations[KEYS.message], undefined);
    assert.equal(machine.annotations[KEYS.finalFailure], undefined);
    assert.equal(machine.annotations[KEYS.current("configuration")], undefined);
    assert.equal(machine.exists(`${AGENT}/before`), false);
    machine.setDesired("1.36.3", false);
    assert.equal(machine.run("--once").status, 0);
    assert.equal(machine.annotations[KEYS.ready], "true");
  });

  it("puts a configuration back with which its Node did not become Ready, and forgets its version", () => {
    const machine = askedMachine();
    assert.equal(machine.run("--once").status, 0);
    machine.put(`${AGENT}/previous/from`, " Kubernetes v1.36.3");
    askBack(machine);
    const { status, output } = machine.run("--once");
    assert.equal(status, 0, output);
    assert.ok(machine.calls.includes(`install configuration ${VERSION} restore`));
    assert.equal(machine.exists(`${AGENT}/configuration`), false);
    const { length } = machine.calls;
    assert.equal(machine.run("--once").status, 0);
    assert.ok(!machine.calls.slice(length).some((call) => call.startsWith("install")));
  });

  it("is not ready while it goes back, so that nothing takes what is half there for what was there", async () => {
    const machine = askedMachine();
    assert.equal(machine.run("--once").status, 0);
    assert.equal(machine.annotations[KEYS.ready], "true");
    machine.put(`${AGENT}/previous/from`, " Kubernetes v1.36.3");
    askBack(machine);
    await machine.killAt("after", `install configuration ${VERSION} restore`);
    assert.equal(machine.annotations[KEYS.ready], "false");
    const { status, output } = machine.run("--once");
    assert.equal(status, 0, output);
    assert.equal(machine.annotations[KEYS.ready], "true");
    assert.equal(machine.exists(`${AGENT}/configuration`), false);
  });

  it("leaves files alone that an earlier change kept, when it was killed before its own first one", () => {
    const machine = askedMachine();
    machine.put(`${AGENT}/configuration`, "a.b");
    machine.put(`${AGENT}/previous/from`, "x.y Kubernetes v1.36.3");
    machine.fail(`install configuration ${VERSION} install`, "no", 99);
    machine.run("--once");
    machine.put(`${AGENT}/changing`, `${VERSION}\n`);
    const { length } = machine.calls;
    askBack(machine);
    const { status, output } = machine.run("--once");
    assert.equal(status, 0, output);
    assert.ok(!machine.calls.slice(length).some((call) => call.endsWith("restore")));
    assert.equal(machine.read(`${AGENT}/configuration`), "a.b");
  });

  for (const [role, from] of [
    ["a worker, also from another minor version", "1.35.4"],
    ["a control plane, from another patch", "1.36.2"],
  ] as const)
    it(`installs the former version again on ${role}, with the files that kubeadm had replaced`, () => {
      const machine = failedUpgrade(from, role.startsWith("a control"));
      const { length } = machine.changes;
      askBack(machine);
      const { status, output } = machine.run("--once");
      assert.equal(status, 0, output);
      assert.deepEqual(workSince(machine, length), [
        ...["kubeadm", "kubelet", "kubectl"].map((name) => `install ${name} ${from} install`),
        "systemctl daemon-reload",
        "systemctl restart kubelet",
      ]);
      assert.equal(machine.read(KUBELET), "old\n");
      assert.equal(machine.annotations[KEYS.current("kubelet")], `v${from}`);
      assert.equal(machine.annotations[KEYS.ready], "true");
      assert.equal(machine.exists(`${AGENT}/before`), false);
    });

  it("ends after a kill in the middle of it", async () => {
    const machine = failedUpgrade("1.35.4");
    askBack(machine);
    await machine.killAt("after", "install kubelet 1.35.4 install");
    const { status, output } = machine.run("--once");
    assert.equal(status, 0, output);
    assert.equal(machine.versions["running"], "1.35.4");
    assert.equal(machine.read(KUBELET), "old\n");
    assert.equal(machine.annotations[KEYS.ready], "true");
  });

  for (const [what, ready] of [
    ["has not reported Ready since, although its former one had", "True"],
    ["reports that it is not Ready", "False"],
  ] as const)
    it(`has not gone back as long as the kubelet of before ${what}`, () => {
      const machine = failedUpgrade("1.35.4");
      machine.state(ready === "True" ? "silent" : "ready-later", ready);
      askBack(machine);
      assert.equal(machine.run("--once").status, 1);
      assert.match(
        machine.annotations[KEYS.message] ?? "",
        /going back failed: the Node is still not Ready two minutes/,
      );
      assert.equal(machine.annotations[KEYS.finalFailure], BACK_FAILED);
      assert.equal(machine.annotations[KEYS.ready], "false");
    });

  it("is not Ready after another version before its new kubelet has reported that", () => {
    const machine = new AgentMachine({ cluster: "1.36.3" });
    machine.setDesired("1.36.3");
    machine.state("silent");
    assert.equal(machine.run("--once").status, 1);
    assert.match(
      machine.annotations[KEYS.message] ?? "",
      /^the Node is still not Ready two minutes after .*\(Ready is True/,
    );
    assert.equal(machine.annotations[KEYS.ready], "false");
  });

  it("does not wait for a Node that was not Ready before the change", () => {
    const machine = new AgentMachine({ cluster: "1.36.3" });
    machine.setDesired("1.36.3");
    machine.state("ready", "False");
    assert.equal(machine.run("--once").status, 0);
  });

  it("says why a control plane can't: a minor version", () => {
    const machine = failedUpgrade("1.35.4", true);
    askBack(machine);
    assert.equal(machine.run("--once").status, 1);
    assert.match(machine.annotations[KEYS.message] ?? "", /a control plane does not go back a minor version/);
    assert.equal(machine.annotations[KEYS.finalFailure], BACK_FAILED);
    assert.equal(machine.annotations[KEYS.ready], "false");
  });

  it("says which software does not go back", () => {
    const machine = askedMachine();
    machine.fail("phase kubelet-config", "error: no such field", 24);
    machine.run("--once");
    machine.setVersion("containerd", "9.9.9");
    askBack(machine);
    assert.equal(machine.run("--once").status, 1);
    assert.match(
      machine.annotations[KEYS.message] ?? "",
      /containerd is 9\.9\.9 and does not go back to 1\.6\.20/,
    );
  });

  it("changes again when it is asked for the same once more", () => {
    const machine = failedUpgrade("1.35.4");
    askBack(machine);
    assert.equal(machine.run("--once").status, 0);
    machine.setDesired("1.36.3");
    const { status, output } = machine.run("--once");
    assert.equal(status, 0, output);
    assert.equal(machine.versions["running"], "1.36.3");
  });
});
