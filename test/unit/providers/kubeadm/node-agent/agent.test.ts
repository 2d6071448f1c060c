import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { annotationKeys } from "../../../../../providers/kubeadm/plan/rollout/annotations";
import { AgentMachine } from "./agent-machine";

const KEYS = annotationKeys();
const READY = KEYS.ready;

describe("the node agent", function () {
  this.timeout(120_000);
  let machine: AgentMachine;
  const open = (options?: ConstructorParameters<typeof AgentMachine>[0]) =>
    (machine = new AgentMachine(options));
  afterEach(() => machine?.remove());

  it("publishes what it found, ready, and its revision, and writes nothing more the second time", () => {
    open();
    assert.equal(machine.run("--once").status, 0);
    const { annotations } = machine;
    assert.equal(annotations[READY], "true");
    assert.equal(annotations[KEYS.current("kubelet")], "v1.35.4");
    assert.equal(annotations[KEYS.current("containerd")], "1.6.20");
    assert.ok(machine.exists("/var/lib/foresail/agent/initialized"));
    const { length } = machine.changes;
    assert.equal(machine.run("--once").status, 0);
    assert.equal(machine.changes.length, length);
  });

  it("writes ready=false before the first change, and ready=true with the versions after the last", () => {
    open({ cluster: "1.36.3" });
    machine.setDesired("1.36.3");
    const { status, output } = machine.run("--once");
    assert.equal(status, 0, output);
    const { changes } = machine;
    assert.match(changes[0]!, new RegExp(`^annotate .*${READY}=false`));
    assert.match(changes.at(-1)!, /^annotate .*kubelet.*current-version=v1\.36\.3.*ready=true$/);
    assert.deepEqual(changes.slice(1, -1), [
      "install kubeadm 1.36.3 install",
      "install images 1.36.3 install",
      "kubeadm upgrade node --ignore-preflight-errors=Swap",
      "install kubelet 1.36.3 install",
      "install kubectl 1.36.3 install",
      "systemctl daemon-reload",
      "systemctl restart kubelet",
    ]);
  });

  it("asks a program for its version once before the change and once after it, because that is slow", () => {
    open({ cluster: "1.36.3" });
    machine.run("--once");
    const { length } = machine.calls;
    machine.setDesired("1.36.3");
    machine.run("--once");
    const asked = machine.calls.slice(length).filter((call) => call === "kubelet --version");
    // a new process looks once more, whether all programs are there
    assert.equal(asked.length, 3, machine.calls.slice(length).join("\n"));
  });

  it("upgrades the cluster on the first control plane, and only the node on the others", () => {
    open({ controlPlane: true });
    machine.setDesired("1.36.3");
    machine.run("--once");
    assert.ok(machine.changes.includes("kubeadm upgrade apply v1.36.3 --yes --ignore-preflight-errors=Swap"));
    assert.equal(machine.versions.cluster, "1.36.3");
    machine.remove();
    open({ controlPlane: true, cluster: "1.36.3" });
    machine.setDesired("1.36.3");
    machine.run("--once");
    assert.ok(machine.changes.includes("kubeadm upgrade node --ignore-preflight-errors=Swap"));
    assert.ok(!machine.changes.some((change) => change.startsWith("kubeadm upgrade apply")));
    assert.ok(machine.calls.some((call) => /admin\.conf .*get configmap kubeadm-config/.test(call)));
  });

  it("changes nothing while changes are not allowed", () => {
    open();
    machine.setDesired("1.36.3", false);
    assert.equal(machine.run("--once").status, 0);
    assert.deepEqual(
      machine.changes.filter((change) => !change.startsWith("annotate")),
      [],
    );
    assert.deepEqual([machine.annotations[READY], machine.versions.kubelet], ["true", "1.35.4"]);
  });

  const UNFINISHED = "/var/lib/foresail/agent/unfinished";
  const changesOf = ({ changes }: AgentMachine) => changes.filter((change) => !change.startsWith("annotate"));

  it("changes nothing when nothing is due, whatever another writer has set, and corrects its own annotation", () => {
    open();
    machine.setDesired("1.35.4");
    assert.equal(machine.run("--once").status, 0);
    machine.annotate(READY, "false");
    assert.equal(machine.run("--once").status, 0);
    assert.deepEqual(changesOf(machine), []);
    assert.equal(machine.annotations[READY], "true");
  });

  it("changes only what is due: packages of the system do not touch Kubernetes", () => {
    open({ version: "1.36.3" });
    machine.setDesired("1.36.3");
    machine.stage(
      "os-packages",
      "2026-11",
      `printf 2026-11 >${machine.folder}/var/lib/foresail/agent/os-packages`,
    );
    machine.annotate(KEYS.desired("os-packages"), "2026-11");
    const { status, output } = machine.run("--once");
    assert.equal(status, 0, output);
    assert.deepEqual(changesOf(machine), ["install os-packages 2026-11 install"]);
  });

  it("passes the patches on that its machine was created with", () => {
    const patches = { init: "/etc/patches/init", join: "/etc/patches/join" };
    const upgrade = (options: ConstructorParameters<typeof AgentMachine>[0]) => {
      open({ patches, ...options });
      machine.setDesired("1.36.3");
      assert.equal(machine.run("--once").status, 0);
      const call = machine.changes.find((change) => change.startsWith("kubeadm upgrade"));
      machine.remove();
      return call?.replace(" --ignore-preflight-errors=Swap", "");
    };
    assert.equal(
      upgrade({ controlPlane: true, first: true }),
      "kubeadm upgrade apply v1.36.3 --yes --patches=/etc/patches/init",
    );
    const joined = { cluster: "1.36.3" };
    for (const controlPlane of [true, false])
      assert.equal(upgrade({ ...joined, controlPlane }), "kubeadm upgrade node --patches=/etc/patches/join");
    assert.equal(upgrade({ ...joined, patches: { init: patches.init } }), "kubeadm upgrade node");
  });

  it("corrects its own annotation while changes are not allowed, too", () => {
    open();
    machine.setDesired("1.36.3", false);
    assert.equal(machine.run("--once").status, 0);
    machine.annotate(READY, "false");
    assert.equal(machine.run("--once").status, 0);
    assert.deepEqual([machine.annotations[READY], changesOf(machine)], ["true", []]);
  });

  it("finishes what an agent before 1.2.0 left unfinished, and reads that from the annotation only once", () => {
    open({ version: "1.36.3" });
    machine.annotate(READY, "false");
    machine.setDesired("1.36.3");
    assert.equal(machine.run("--once").status, 0);
    const changes = changesOf(machine);
    assert.ok(changes.includes("systemctl restart kubelet"), changes.join("\n"));
    machine.annotate(READY, "false");
    assert.equal(machine.run("--once").status, 0);
    assert.deepEqual(changesOf(machine), changes);
  });

  it("keeps what is unfinished in a file that only root can read", () => {
    open();
    assert.equal(machine.run("--once").status, 0);
    assert.equal(statSync(machine.folder + UNFINISHED).mode & 0o777, 0o600);
    assert.equal(readFileSync(machine.folder + UNFINISHED, "utf8"), "no");
  });

  const refused: [string, () => void, RegExp][] = [
    [
      "a version that is not staged",
      () => machine.setDesired("1.36.4"),
      /1\.36\.4 is not staged .* has: 1\.35\.4 1\.36\.3/,
    ],
    ["a path in place of a version", () => machine.setDesired("../../../tmp/x"), /is not a version/],
    [
      "three programs at two versions",
      () => (machine.setDesired("1.36.3"), machine.annotate(KEYS.desired("kubectl"), "v1.35.4")),
      /same version/,
    ],
    [
      "a minor version back",
      () => (
        ["kubelet", "kubeadm", "kubectl"].forEach((name) => machine.setVersion(name, "1.36.3")),
        machine.setDesired("1.35.4")
      ),
      /never goes back/,
    ],
    [
      "two minor versions at once",
      () => (machine.setVersion("kubelet", "1.34.4"), machine.setDesired("1.36.3")),
      /one minor version at a time/,
    ],
  ];
  for (const [what, prepare, words] of refused)
    it(`refuses ${what}, says so on the Node, and stays ready`, () => {
      open({ cluster: "1.36.3" });
      machine.annotate(READY, "true");
      prepare();
      assert.equal(machine.run("--once").status, 1);
      assert.match(machine.annotations[KEYS.message] ?? "", words);
      assert.equal(machine.annotations[READY], "true");
      assert.deepEqual(
        machine.changes.filter((change) => !change.startsWith("annotate")),
        [],
      );
    });

  it("never lets a worker's kubelet be newer than the control plane", () => {
    open({ cluster: "1.35.4" });
    machine.annotate(READY, "true");
    machine.setDesired("1.36.3");
    assert.equal(machine.run("--once").status, 1);
    assert.match(machine.annotations[KEYS.message] ?? "", /the control plane is at 1\.35\.4/);
    assert.equal(machine.versions.kubeadm, "1.35.4");
  });

  it("reports on the Node why it failed, continues at the next attempt, and removes the error", () => {
    open({ cluster: "1.36.3" });
    machine.setDesired("1.36.3");
    machine.fail(
      "kubeadm upgrade node",
      "error execution phase preflight: no space left on device\nTo see the stack trace of this error execute with --v=5 or higher",
      1,
    );
    assert.equal(machine.run("--once").status, 1);
    assert.match(
      machine.annotations[KEYS.message] ?? "",
      /^kubeadm upgrade node: error execution phase preflight: no space left/,
    );
    assert.equal(machine.annotations[READY], "false");
    assert.equal(machine.run("--once").status, 0);
    assert.equal(machine.annotations[KEYS.message], undefined);
    assert.deepEqual([machine.annotations[READY], machine.versions.running], ["true", "1.36.3"]);
  });

  it("retries after Forbidden from an API server that has just started", () => {
    open({ cluster: "1.36.3" });
    machine.setDesired("1.36.3");
    machine.fail("annotate node", "Error from server (Forbidden): nodes is forbidden", 3);
    const { status, output } = machine.run("--once");
    assert.equal(status, 0, output);
    assert.match(output, /does not answer yet: Error from server \(Forbidden\)/);
    machine.fail("get node ", "The connection to the server was refused", 1);
    assert.equal(machine.run("--once").status, 75);
  });

  it("changes nothing in a dry run and lists every step", () => {
    open({ controlPlane: true });
    machine.setDesired("1.36.3");
    const before = [machine.annotations, machine.versions];
    const { status, output } = machine.run("--dry-run");
    assert.equal(status, 0, output);
    assert.deepEqual([machine.annotations, machine.versions], before);
    assert.deepEqual(machine.changes, []);
    assert.ok(!machine.exists("/var/lib/foresail/agent/initialized"));
    assert.deepEqual(output.trim().split("\n"), [
      `would write ${READY}=false`,
      "would install kubeadm 1.36.3",
      "would install images 1.36.3",
      "would kubeadm upgrade apply v1.36.3",
      "would install kubelet 1.36.3",
      "would install kubectl 1.36.3",
      "would restart the kubelet, and wait until the Node is Ready",
      `would write ${READY}=true`,
    ]);
  });

  it("fails a dry run for a version that its source does not have, whatever the annotations say", () => {
    open();
    machine.fail("install kubeadm 1.36.3 check", "the bundle folder is not on this machine", 1);
    const { status, output } = machine.run("--dry-run", "1.36.3");
    assert.equal(status, 66);
    assert.match(output, /would fail: kubeadm 1\.36\.3: the bundle folder is not on this machine/);
    assert.equal(machine.run("--dry-run", "1.36.3").status, 0);
    assert.equal(machine.run("--dry-run", "1.35.4").output, "nothing to do\n");
  });

  it("upgrades containerd and the packages of the system, and reboots when they require it", () => {
    open();
    machine.stage("containerd", "1.7.2");
    machine.stage("os-packages", "2026-11-01");
    machine.annotate(KEYS.desired("containerd"), "1.7.2");
    machine.annotate(KEYS.desired("os-packages"), "2026-11-01");
    machine.annotate(KEYS.changesAllowed, "true");
    machine.put("/run/reboot-required");
    // the fake's version of the packages is where the agent looks for it
    machine.put("/var/lib/foresail/agent/os-packages", "2026-11-01");
    assert.equal(machine.run("--once").status, 0);
    assert.equal(machine.versions.containerd, "1.7.2");
    assert.equal(machine.changes.at(-1), "systemctl reboot");
    assert.equal(machine.annotations[READY], "false");
    // after the reboot
    machine.take("/run/reboot-required");
    assert.equal(machine.run("--once").status, 0);
    assert.equal(machine.annotations[READY], "true");
  });

  it("changes nothing on a machine whose kubelet would come back under another name", () => {
    open({ cluster: "1.36.3" });
    machine.setDesired("1.36.3");
    machine.state("hostname", "ip-10-0-0-7\n");
    assert.equal(machine.run("--once").status, 1);
    assert.match(
      machine.annotations[KEYS.message] ?? "",
      /calls itself ip-10-0-0-7 .* another Node than w-1; run there: hostnamectl set-hostname w-1/,
    );
    assert.deepEqual(
      machine.changes.filter((change) => !change.startsWith("annotate")),
      [],
    );
    // as kubeadm writes it where the names differ at the join
    machine.put(
      "/var/lib/kubelet/kubeadm-flags.env",
      'KUBELET_KUBEADM_ARGS="--hostname-override=w-1 --v=2"\n',
    );
    assert.equal(machine.run("--once").status, 0);
    assert.equal(machine.versions.running, "1.36.3");
  });
});
