import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { stepFile } from "../../../../../providers/kubeadm/machine/operations";
import type { Parameters } from "../../../../../providers/kubeadm/machine/shell";
import { NODE_PATHS } from "../../../../../providers/kubeadm/plan/cluster/node-paths";
import { ShellMachine } from "./run-shell";

const OWNER = "cluster=demo machine=w-1";

interface Agent {
  /** What systemctl says of the unit. */
  state: string;
  start?: string;
  enable?: string;
  /** What it has logged since the run waits for it. */
  logged?: string;
  /** Its main process, and that after it was killed. */
  processes?: [number, number];
  parameters?: Parameters;
  /** Whether another process has the machine's lock. */
  atWork?: boolean;
}

/** Runs the step on a machine with a unit in a state. */
function run({
  state,
  start = "exit 1",
  enable = "exit 0",
  logged = "",
  processes = [8, 9],
  parameters = {},
  atWork = false,
}: Agent) {
  const machine = new ShellMachine();
  for (const folder of [NODE_PATHS.scratch, "/var/lib/foresail", "/run"])
    machine.write(`${folder}/README`, "");
  machine.write("/etc/foresail/machine", `${OWNER}\n`);
  machine.write("/unit", state);
  machine.write("/process", String(processes[0]));
  const [unit, process] = [machine.path("unit"), machine.path("process")];
  machine.program("sleep", ":");
  machine.program(
    "journalctl",
    `case $1 in _SYSTEMD_UNIT=*) printf 'node agent 1.0 of w-1\\n${logged}' ;; *) echo '1.0 node agent[9]: it says why' ;; esac`,
  );
  machine.program("flock", `exit ${atWork ? 1 : 0}`);
  machine.program(
    "systemctl",
    `case "$1 $2" in
enable*) ${enable} ;;
"show --property=MainPID") cat ${process} ;;
show*) tr ' ' '\\n' <${unit} ;;
kill*) printf ${processes[1]} >${process} ;;
stop*) printf 'inactive dead' >${unit} ;;
start*) touch ${machine.path("started")}; ${start.replaceAll("UNIT", unit)} ;;
esac`,
  );
  const all = {
    ...{ MACHINE: "w-1", OWNER, OWNER_ID: "", OWNER_STACK: "", TAKE_OVER: "" },
    ...{ SILENT_SECONDS: 15, END: "restart", PAUSES: false, IDLE_SUM: "" },
    ...parameters,
  };
  const { status, stdout, stderr } = machine.step(stepFile("start-agent"), all, ["common/owner"]);
  const wasStarted = existsSync(machine.path("started"));
  const [answer, words] = [stdout.trim(), stdout + stderr];
  return { status, answer, words, wasStarted, state: readFileSync(unit, "utf8") };
}

const RUNNING = "active running";
/** The sum of no process: none here is an agent's. */
const IDLE = createHash("sha256").digest("hex").slice(0, 16);

describe("the step that starts a node agent", () => {
  it("leaves one that runs and does nothing as long as nothing else is wanted", () => {
    const { status, answer, wasStarted } = run({ state: RUNNING, parameters: { END: "no", IDLE_SUM: IDLE } });
    assert.deepEqual([status, answer, wasStarted], [0, "runs", false]);
    assert.match(run({ state: RUNNING }).answer, /^works [0-9a-f]{16}$/);
    assert.equal(run({ state: RUNNING, parameters: { PAUSES: true } }).answer, "runs");
  });

  it("says what one says that does nothing", () =>
    assert.equal(run({ state: RUNNING, logged: "no API\\n" }).answer, "says no API"));

  it("ends one that does nothing, and leaves it stopped when it did so before", () => {
    assert.equal(run({ state: RUNNING, parameters: { IDLE_SUM: IDLE } }).answer, "ended");
    const { status, words, state } = run({ state: RUNNING, parameters: { END: "stop", IDLE_SUM: IDLE } });
    assert.deepEqual([status, state], [65, "inactive dead"]);
    assert.match(words, /foresail-node-agent did nothing, also after it was started again, and was stopped/);
  });

  it("fails when one that does nothing can't be ended", () => {
    const { status, words } = run({ state: RUNNING, processes: [8, 8], parameters: { IDLE_SUM: IDLE } });
    assert.equal(status, 65);
    assert.match(words, /its processes can't be ended/);
  });

  it("leaves one at work, until its processes do nothing or are stopped", () => {
    const atWork = { state: RUNNING, atWork: true };
    const { answer } = run(atWork);
    assert.match(answer, /^works [0-9a-f]{16}$/);
    assert.equal(answer.slice(6), IDLE);
    assert.equal(run({ ...atWork, parameters: { IDLE_SUM: IDLE } }).answer, "ended");
    const stopped = spawn("sleep", ["60"]);
    try {
      stopped.kill("SIGSTOP");
      assert.equal(run({ ...atWork, processes: [stopped.pid!, 9] }).answer, "ended");
    } finally {
      stopped.kill("SIGKILL");
    }
  });

  it("leaves a machine on which another step runs", () =>
    assert.equal(run({ state: "inactive dead", atWork: true }).answer, "runs"));

  it("starts one that was stopped, or has failed", () => {
    for (const state of ["inactive dead", "failed failed", "activating auto-restart"]) {
      const { status, answer } = run({ state, start: `printf '${RUNNING}' >UNIT` });
      assert.deepEqual([status, answer], [0, "started"], state);
    }
  });

  it("fails with systemd's words when it can't be started", () => {
    const { status, words } = run({
      state: "inactive dead",
      start: "echo 'Unit foresail-node-agent.service not found.'; exit 5",
    });
    assert.equal(status, 65);
    assert.match(words, /systemd does not start foresail-node-agent \(.*not found/);
  });

  it("fails when the unit is not there", () => {
    const { status, words } = run({
      state: "inactive dead",
      enable: "echo 'Unit file does not exist.'; exit 1",
    });
    assert.deepEqual([status, /Unit file does not exist/.test(words)], [65, true], words);
  });

  it("fails with what it said when it ends again", () => {
    const { status, words, state } = run({
      state: "inactive dead",
      start: "printf 'activating auto-restart' >UNIT",
    });
    assert.equal(status, 65);
    assert.equal(state, "inactive dead", "systemd would start it again, and it could begin");
    assert.match(words, /foresail-node-agent ends again \(.*it says why\)/);
  });
});
