import assert from "node:assert/strict";
import { annotationKeys } from "../../../../../providers/kubeadm/plan/rollout/annotations";
import { askedMachine, ASKED_VERSION as VERSION, AgentMachine } from "./agent-machine";

const KEYS = annotationKeys();
const KUBERNETES = "kubeadm@1.36.3 kubelet@1.36.3 kubectl@1.36.3";
const LOGS = "/var/log/pods/kube-system_kube-apiserver-w-1_0123/kube-apiserver";
const FATAL = 'E1126 10:00:00.000000       1 run.go:72] "command failed" err="unknown flag: --colour"';

/** How a kubelet says that it ends, among words of its own kind. */
const ENDING =
  'E1126 10:00:00.000000       8 server.go:1] "Failed to listen and serve" err="cannot assign address"';
/** The process of the kubelet that has just started again. */
const RUNNING = 9;

/** Lets the kubelet be healthy only after the configuration was taken back; systemd restarts it at each look. */
function breakKubelet(machine: AgentMachine): void {
  const isBack = `grep -q "^install configuration ${VERSION} restore" ${machine.folder}/state/calls`;
  const restarts = `${machine.folder}/state/restarts`;
  machine.useScript("curl", [isBack]);
  machine.useScript("systemctl", [
    `echo "systemctl $*" >>${machine.folder}/state/calls`,
    `if [[ $* == *NRestarts* ]]; then cat ${restarts} 2>/dev/null || echo 0; echo x >>${restarts}.looks; wc -l <${restarts}.looks >${restarts}; fi`,
    `if [[ $* == *MainPID* ]]; then echo ${RUNNING}; fi`,
    `if [[ $* == "restart kubelet" ]]; then rm -f ${restarts} ${restarts}.looks; date --utc +%FT%TZ >${machine.folder}/state/reports; fi`,
  ]);
  const entry = (pid: number, line: string) => `echo '1795726082.4 w-1 kubelet[${pid}]: ${line}'`;
  machine.useScript("journalctl", [
    entry(7, ENDING),
    entry(8, ENDING),
    entry(8, "a line after it"),
    entry(RUNNING, 'E1126 10:00:01.000000       9 remote_runtime.go:1] "RuntimeConfig failed"'),
  ]);
}

describe("a node agent whose change would fail in the same way again", function () {
  this.timeout(120_000);

  it("says so when the kubelet keeps ending, with the kubelet's own words, after going back", () => {
    const machine = askedMachine();
    breakKubelet(machine);
    assert.equal(machine.run("--once").status, 1);
    const message = machine.annotations[KEYS.message] ?? "";
    assert.match(message, /^the kubelet ended three times right after its start; its last words: E1126 /);
    assert.match(message, /err="cannot assign address"; this machine went back/);
    assert.equal(machine.annotations[KEYS.finalFailure], `${KUBERNETES} configuration@${VERSION}`);
  });

  /** Lets systemd refuse the start of the kubelet. @param state of the unit at each later look, after its restarts */
  function refuseKubelet(machine: AgentMachine, state: string): void {
    const looks = `${machine.folder}/state/looks`;
    machine.useScript("systemctl", [
      `echo "systemctl $*" >>${machine.folder}/state/calls`,
      `if [[ $* == "restart kubelet" ]]; then date --utc +%FT%TZ >${machine.folder}/state/reports; echo "Job for kubelet.service failed." >&2; exit 1; fi`,
      `if [[ $* == *SubState* ]]; then echo x >>${looks}; printf '%s\n' NRestarts=$(wc -l <${looks}) ${state}; fi`,
      `if [[ $* == *NRestarts* && $* != *SubState* ]]; then echo 0; fi`,
    ]);
    const entry = (line: string) => `echo '1795726082.4 w-1 ${line}'`;
    machine.useScript("journalctl", [
      entry("kubelet[6]: the words of the kubelet before it"),
      entry("systemd[1]: Starting kubelet.service - kubelet..."),
      entry("sh[7]: the disk of this site is away"),
      entry("systemd[1]: kubelet.service: Control process exited, code=exited, status=1/FAILURE"),
      entry("systemd[1]: kubelet.service: Failed with result exit-code."),
      // the next try has begun and not ended
      entry("systemd[1]: Starting kubelet.service - kubelet..."),
      entry("modprobe[8]: FATAL: Module overlay not found"),
    ]);
  }

  const upgraded = () => {
    const machine = new AgentMachine({ version: "1.35.4", cluster: "1.36.3", staged: ["1.35.4", "1.36.3"] });
    machine.setDesired("1.36.3");
    return machine;
  };

  it("says so when systemd keeps refusing to start the kubelet, with the words of what failed", () => {
    const machine = upgraded();
    refuseKubelet(machine, "ActiveState=activating SubState=auto-restart");
    assert.equal(machine.run("--once").status, 1);
    assert.equal(
      machine.annotations[KEYS.message],
      "restart the kubelet: systemd does not start kubelet (kubelet.service: Control process exited, code=exited, status=1/FAILURE; its last words: the disk of this site is away)",
    );
    assert.equal(machine.annotations[KEYS.finalFailure], KUBERNETES);
    const looks = machine.calls.filter((call) => call.includes("SubState"));
    assert.equal(looks.length, 2, "it waits for the starts that systemd makes by itself");
  });

  it("goes on when systemd has started the kubelet at its second try", () => {
    const machine = upgraded();
    refuseKubelet(machine, "ActiveState=active SubState=running");
    assert.equal(machine.run("--once").status, 0, machine.annotations[KEYS.message]);
    assert.equal(machine.annotations[KEYS.finalFailure], undefined);
  });

  it("ends kubeadm when a static pod keeps ending, with the pod's own words", () => {
    const machine = askedMachine({ controlPlane: true });
    const logs = machine.folder + LOGS;
    machine.useScript("kubeadm", [
      'if [[ $* == "version"* ]]; then echo v1.36.3; fi',
      'if [[ $* != *"phase control-plane"* ]]; then exit 0; fi',
      `mkdir -p ${logs}`,
      `for time in 0 1 2; do echo '2026-11-26T10:00:00.1Z stderr F ${FATAL}' >${logs}/$time.log; done`,
      "exec sleep 600",
    ]);
    assert.equal(machine.run("--once").status, 1);
    const message = machine.annotations[KEYS.message] ?? "";
    assert.match(message, /kube-apiserver ended three times right after its start; its last words: E1126 /);
    assert.ok(machine.calls.includes(`install configuration ${VERSION} restore`));
    assert.equal(machine.annotations[KEYS.finalFailure], `${KUBERNETES} configuration@${VERSION}`);
  });

  it("goes back from arguments with which the controller manager ends, which kubeadm takes for an upgrade", () => {
    const machine = askedMachine({ controlPlane: true });
    const logs = (machine.folder + LOGS).replaceAll("kube-apiserver", "kube-controller-manager");
    const manifest = "/etc/kubernetes/manifests/kube-controller-manager.yaml";
    machine.put(manifest, "old\n");
    machine.put(`/var/lib/foresail/agent/previous/files${machine.folder}${manifest}`, "old\n");
    machine.put("/proc/7/comm", "kube-controller\n");
    machine.useScript("curl", [`if [[ $* == *192.0.2.1:10257* ]]; then exit 7; fi`]);
    machine.useScript("kubeadm", [
      'if [[ $* == "version"* ]]; then echo v1.36.3; fi',
      'if [[ $* != *"phase control-plane"* ]]; then exit 0; fi',
      `echo '    - --bind-address=192.0.2.1' >${machine.folder}${manifest}`,
      `mkdir -p ${logs}`,
      `(sleep 2; for time in 0 1 2; do echo '2026-11-26T10:00:00.1Z stderr F ${FATAL}' >${logs}/$time.log; done) >/dev/null 2>&1 &`,
    ]);
    assert.equal(machine.run("--once").status, 1);
    const message = machine.annotations[KEYS.message] ?? "";
    assert.match(
      message,
      /kube-controller-manager ended three times right after its start; its last words: E1126 /,
    );
    assert.ok(machine.calls.includes(`install configuration ${VERSION} restore`));
  });

  it("waits on while static pods end only because the API server takes its time to start", () => {
    const machine = askedMachine({ controlPlane: true });
    const logs = (machine.folder + LOGS).replaceAll("kube-apiserver", "kube-controller-manager");
    const down = `${machine.folder}/state/down`;
    machine.useScript("curl", [`if [[ $* == *6443* && -e ${down} ]]; then exit 7; fi`]);
    machine.useScript("kubeadm", [
      'if [[ $* == "version"* ]]; then echo v1.36.3; fi',
      'if [[ $* != *"phase control-plane"* ]]; then exit 0; fi',
      `mkdir -p ${logs}`,
      `touch ${down}`,
      `for time in 0 1 2; do echo 'E1126 leaderelection lost' >${logs}/$time.log; sleep 1; done`,
      `rm ${down}`,
      "sleep 2",
    ]);
    assert.equal(machine.run("--once").status, 0, machine.annotations[KEYS.message]);
    assert.equal(machine.annotations[KEYS.finalFailure], undefined);
  });

  it("ignores ends of a static pod from before the change", () => {
    const machine = askedMachine({ controlPlane: true });
    for (const time of [0, 1, 2, 3]) machine.put(`${LOGS}/${time}.log`, "an old end\n");
    assert.equal(machine.run("--once").status, 0);
    assert.equal(machine.annotations[KEYS.finalFailure], undefined);
  });

  it("says so when no repository has a version, and tells that from a repository that does not answer", () => {
    for (const [code, isFinal] of [
      [65, true],
      [100, false],
    ] as const) {
      const machine = new AgentMachine({ version: "1.36.3", staged: ["1.36.3"] });
      machine.stage("containerd", "9.9.9", `echo "no version for you" >&2; exit ${code}`);
      machine.setDesired("1.36.3");
      machine.annotate(KEYS.desired("containerd"), "9.9.9");
      assert.equal(machine.run("--once").status, 1);
      assert.match(machine.annotations[KEYS.message] ?? "", /containerd 9\.9\.9.*no version for you/);
      assert.equal(
        machine.annotations[KEYS.finalFailure],
        isFinal ? `containerd@9.9.9 ${KUBERNETES}` : undefined,
      );
    }
  });

  it("says so when what is asked for is not staged, and not when a disk is full", () => {
    const machine = new AgentMachine({ version: "1.35.4", staged: ["1.36.3"] });
    machine.setDesired("1.36.9");
    assert.equal(machine.run("--once").status, 1);
    assert.match(machine.annotations[KEYS.finalFailure] ?? "", /kubelet@1\.36\.9/);

    const full = new AgentMachine({ version: "1.35.4", staged: ["1.36.3"] });
    full.useScript("df", ["echo Avail Mounted", "echo 1 /"]);
    full.setDesired("1.36.3");
    assert.equal(full.run("--once").status, 1);
    assert.match(full.annotations[KEYS.message] ?? "", /^too little free space/);
    assert.equal(full.annotations[KEYS.finalFailure], undefined);
  });

  it("tries again as soon as a run removes what it said, and forgets it after success", async () => {
    const machine = askedMachine();
    machine.fail("phase kubelet-config", "error: not today", 1);
    const agent = machine.start();
    try {
      await machine.until(() => machine.annotations[KEYS.finalFailure] !== undefined, "the failure");
      machine.annotate(KEYS.finalFailure, "");
      await machine.until(
        () => machine.annotations[KEYS.current("configuration")] === VERSION,
        "the second try",
      );
      await machine.until(() => machine.annotations[KEYS.message] === undefined, "the clean Node");
      assert.equal(machine.annotations[KEYS.finalFailure], undefined);
    } finally {
      process.kill(-agent.pid!, "SIGKILL");
    }
  });

  it("counts its tries while waiting may help", async () => {
    const machine = new AgentMachine({ version: "1.36.3", staged: ["1.36.3"] });
    machine.stage("containerd", "1.7.0", "exit 100");
    machine.setDesired("1.36.3");
    machine.annotate(KEYS.desired("containerd"), "1.7.0");
    const agent = machine.start();
    try {
      await machine.until(() => / \(try 2\)$/.test(machine.annotations[KEYS.message] ?? ""), "a second try");
    } finally {
      process.kill(-agent.pid!, "SIGKILL");
    }
  });
});
