import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { parseUpdates, type PendingUpdates } from "../../../../../providers/kubeadm/plan/updates/updates";
import { annotationKeys } from "../../../../../providers/kubeadm/plan/rollout/annotations";
import { AgentMachine } from "./agent-machine";

const KEYS = annotationKeys();
const REPORT = KEYS.current("os-updates");
const DESIRED = KEYS.desired("os-updates");
const LIST = "libssl3=3.0.15-1\nopenssl=3.0.15-1\n";
const hashOf = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 12);
const BEGUN = "/var/lib/foresail/agent/os-updates/begun";

describe("a node agent and the updates of its machine", function () {
  this.timeout(60_000);
  let machine: AgentMachine;
  afterEach(() => machine.remove());

  /** A machine on which these updates are pending. Installed ones are none any more. */
  function pending(list: string, mode = "security"): AgentMachine {
    machine = new AgentMachine({ version: "1.36.3", staged: ["1.36.3"] });
    const file = `${machine.folder}/state/pending`;
    machine.state("pending", list);
    machine.put("/var/lib/dpkg/status", "one");
    machine.put("/proc/sys/kernel/random/boot_id", "boot-1\n");
    machine.stage(
      "os-updates",
      mode,
      `case $1 in list) cat ${file} ;; install) if [ -e ${machine.folder}/state/broken ]; then echo 'dpkg: error processing openssl'; exit 65; fi; : >${file}; echo changed >>${machine.folder}/var/lib/dpkg/status ;; esac`,
    );
    machine.setDesired("1.36.3", false);
    return machine;
  }
  const reported = () => parseUpdates(machine.annotations[REPORT]) as PendingUpdates;
  const installations = () =>
    machine.calls.filter((call) => /^install os-updates \S+ (download|install)/.test(call));
  /** What a rollout asks for once the node is drained. */
  function ask(hash: string) {
    machine.annotate(KEYS.changesAllowed, "true");
    machine.annotate(DESIRED, hash);
    return machine.run("--once");
  }

  it("reports what is pending, and nothing without an installer of updates", () => {
    pending(LIST);
    assert.equal(machine.run("--once").status, 0);
    assert.equal(machine.annotations[REPORT], "unread the lists of packages are fetched after this report");
    assert.equal(machine.run("--once").status, 0);
    assert.equal(machine.annotations[REPORT], `${hashOf(LIST)} - 2 - libssl3=3.0.15-1 openssl=3.0.15-1`);
    machine.state("pending", "");
    machine.put("/var/lib/dpkg/status", "others installed them");
    machine.run("--once");
    assert.equal(machine.annotations[REPORT], "none - 0 -");
    machine.take("/var/lib/foresail/agent/install/os-updates/security");
    machine.run("--once");
    assert.equal(REPORT in machine.annotations, false);
    assert.deepEqual(installations(), []);
  });

  it("reports a bounded list, and what could not be read", () => {
    pending(
      Array.from({ length: 100 }, (_, at) => `package-${at}=1.0-${at}\n`).join(""),
      "all-without-reboot",
    );
    machine.run("--once");
    machine.run("--once");
    assert.ok((machine.annotations[REPORT] ?? "").length < 900);
    assert.deepEqual([reported().count, reported().reboot], [100, "no reboot"]);
    machine.stage(
      "os-updates",
      "all-without-reboot",
      `[ "$1" = list ] && { echo 'apt-get: E: "no\\such" file'; exit 1; }`,
    );
    machine.run("--once");
    assert.equal(machine.annotations[REPORT], "unread apt-get: E: nosuch file");
  });

  it("installs what its Node asks for, and reports that it has", () => {
    pending(LIST);
    const { status, output } = ask(hashOf(LIST));
    assert.equal(status, 0, output);
    assert.equal(machine.annotations[REPORT], `none ${hashOf(LIST)} 0 -`);
    assert.equal(machine.annotations[KEYS.ready], "true");
    assert.equal(installations().length, 2);
    // the same list is pending once more
    machine.annotate(KEYS.changesAllowed, "false");
    machine.state("pending", LIST);
    machine.put("/var/lib/dpkg/status", "back");
    machine.run("--once");
    assert.equal(machine.annotations[REPORT]?.slice(0, 14), `${hashOf(LIST)} -`);
  });

  it("refuses for good to install anything but what was asked for", () => {
    pending(LIST);
    const asked = hashOf(LIST);
    machine.state("pending", `${LIST}zlib1g=2-1\n`);
    machine.put("/var/lib/dpkg/status", "newer lists");
    assert.equal(ask(asked).status, 1);
    assert.match(machine.annotations[KEYS.message] ?? "", /^other updates are pending than were asked for/);
    assert.match(machine.annotations[KEYS.finalFailure] ?? "", new RegExp(`os-updates@${asked}`));
    assert.deepEqual(installations(), []);
    // another preview asks for what there is
    assert.equal(ask(hashOf(`${LIST}zlib1g=2-1\n`)).status, 0);
  });

  it("fails for good with the package manager's words, and leaves it when it is told to", () => {
    pending(LIST);
    machine.state("broken");
    assert.equal(ask(hashOf(LIST)).status, 1);
    assert.equal(machine.annotations[KEYS.message], "install the updates: dpkg: error processing openssl");
    assert.match(machine.annotations[KEYS.finalFailure] ?? "", /os-updates@/);
    assert.equal(machine.exists(BEGUN), false);
    machine.take("/var/lib/foresail/agent/install/os-updates/security");
    const { status, output } = ask("none");
    assert.equal(status, 0, output);
    assert.deepEqual(
      [machine.annotations[KEYS.ready], machine.annotations[KEYS.message]],
      ["true", undefined],
    );
  });

  it("goes on with the same list after it was killed in the middle of it", async () => {
    pending(LIST);
    machine.annotate(KEYS.changesAllowed, "true");
    machine.annotate(DESIRED, hashOf(LIST));
    await machine.killAt("before", "install os-updates security install");
    assert.equal(machine.read(BEGUN), LIST);
    // a part of it is installed
    machine.state("pending", "openssl=3.0.15-1\n");
    machine.put("/var/lib/dpkg/status", "half");
    const { status, output } = machine.run("--once");
    assert.equal(status, 0, output);
    assert.equal(machine.annotations[REPORT], `none ${hashOf(LIST)} 0 -`);
    assert.equal(machine.exists(BEGUN), false);
  });

  it("reboots once where the machine asks for it, and completes the request after that", () => {
    pending(LIST);
    machine.put("/run/reboot-required");
    machine.put("/var/lib/foresail/agent/before/ready", "False");
    ask(hashOf(LIST));
    assert.equal(machine.changes.at(-1), "systemctl reboot");
    assert.notEqual(machine.annotations[KEYS.ready], "true");
    // a file that stays would ask for it each time
    machine.put("/proc/sys/kernel/random/boot_id", "boot-2\n");
    machine.state("reports", "2099-01-01T00:00:00Z");
    const { status, output } = machine.run("--once");
    assert.equal(status, 0, output);
    assert.equal(machine.changes.filter((change) => change === "systemctl reboot").length, 1);
    assert.match(machine.annotations[REPORT] ?? "", new RegExp(`^none ${hashOf(LIST)}`));
  });

  it("does not reboot where it may not, nor inside a container", () => {
    for (const [mode, isContainer] of [
      ["security-without-reboot", false],
      ["security", true],
    ] as const) {
      machine?.remove();
      pending(LIST, mode);
      machine.put("/run/reboot-required");
      if (isContainer) machine.state("container");
      assert.equal(ask(hashOf(LIST)).status, 0);
      assert.ok(!machine.changes.includes("systemctl reboot"));
    }
  });
});
