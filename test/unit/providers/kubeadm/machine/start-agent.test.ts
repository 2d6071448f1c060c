import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { stepFile } from "../../../../../providers/kubeadm/machine/operations";
import { NODE_PATHS } from "../../../../../providers/kubeadm/plan/cluster/node-paths";
import { ShellMachine } from "./run-shell";

const OWNER = "cluster=demo machine=w-1";

/** Runs the step on a machine with a unit in a state. @param start what systemctl does with it */
function run(state: string, start: string, enable = "exit 0") {
  const machine = new ShellMachine();
  for (const folder of [NODE_PATHS.scratch, "/var/lib/foresail"]) machine.write(`${folder}/README`, "");
  machine.write("/etc/foresail/machine", `${OWNER}\n`);
  machine.write("/unit", state);
  const unit = machine.path("unit");
  machine.program("sleep", ":");
  machine.program("journalctl", "echo '1.0 node agent[9]: it says why'");
  machine.program(
    "systemctl",
    `case $1 in
enable) ${enable} ;;
show) tr ' ' '\\n' <${unit} ;;
stop) printf 'inactive dead' >${unit} ;;
start) touch ${machine.path("started")}; ${start.replaceAll("UNIT", unit)} ;;
esac`,
  );
  const parameters = { MACHINE: "w-1", OWNER, OWNER_ID: "", OWNER_STACK: "", TAKE_OVER: "" };
  const { status, stdout, stderr } = machine.step(stepFile("start-agent"), parameters, ["common/owner"]);
  const wasStarted = existsSync(machine.path("started"));
  return { status, words: stdout + stderr, wasStarted, state: readFileSync(unit, "utf8") };
}

const RUNNING = "active running";

describe("the step that starts a node agent", () => {
  it("leaves one that runs", () => {
    const { status, words, wasStarted } = run(RUNNING, "exit 1");
    assert.deepEqual([status, words.trim(), wasStarted], [0, "runs", false]);
  });

  it("starts one that was stopped, or has failed", () => {
    for (const state of ["inactive dead", "failed failed", "activating auto-restart"]) {
      const { status, words } = run(state, `printf '${RUNNING}' >UNIT`);
      assert.deepEqual([status, words.trim()], [0, "started"], state);
    }
  });

  it("fails with systemd's words when it can't be started", () => {
    const { status, words } = run(
      "inactive dead",
      "echo 'Unit foresail-node-agent.service not found.'; exit 5",
    );
    assert.equal(status, 65);
    assert.match(words, /systemd does not start foresail-node-agent \(.*not found/);
  });

  it("fails when the unit is not there", () => {
    const { status, words } = run("inactive dead", "exit 0", "echo 'Unit file does not exist.'; exit 1");
    assert.deepEqual([status, /Unit file does not exist/.test(words)], [65, true], words);
  });

  it("fails with what it said when it ends again", () => {
    const { status, words, state } = run("inactive dead", "printf 'activating auto-restart' >UNIT");
    assert.equal(status, 65);
    assert.equal(state, "inactive dead", "systemd would start it again, and it could begin");
    assert.match(words, /foresail-node-agent ends again \(.*it says why\)/);
  });
});
