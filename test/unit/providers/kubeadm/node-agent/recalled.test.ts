/** A request is replaced while the agent writes that it begins. */
import assert from "node:assert/strict";
import { mkdirSync, symlinkSync } from "node:fs";
import path from "node:path";
import { annotationKeys, GO_BACK } from "../../../../../providers/kubeadm/plan/rollout/annotations";
import { AgentMachine, askedMachine, ASKED_VERSION } from "./agent-machine";

const KEYS = annotationKeys();
const DESIRED = KEYS.desired("configuration");
const OTHER = "dddddd.eeeeee.ffffff";
const UNFINISHED = "/var/lib/foresail/agent/unfinished";

/** Lets another run write these annotations right before the agent's first write of ready=false takes effect. */
function replaceAtBegin(machine: AgentMachine, annotations: Readonly<Record<string, string>>): void {
  const original = path.join(machine.folder, "original");
  mkdirSync(original);
  symlinkSync(path.join(machine.folder, "programs/.stub"), path.join(original, "kubectl"));
  const writes = Object.entries(annotations).map(
    ([key, value]) =>
      `printf '%s' '${value}' >${machine.folder}/state/annotations/${key.replaceAll("/", "@")}`,
  );
  const isFirst = `[[ "$*" == *"${KEYS.ready}=false"* ]] && mkdir ${machine.folder}/replaced 2>/dev/null`;
  machine.useScript("kubectl", [
    `if ${isFirst}; then ${writes.join("; ")}; fi`,
    `exec ${original}/kubectl "$@"`,
  ]);
}

const installed = ({ changes }: AgentMachine) => changes.filter((change) => change.startsWith("install "));

describe("a node agent whose request is replaced as it begins", function () {
  this.timeout(120_000);
  let machine: AgentMachine;
  beforeEach(() => (machine = askedMachine()));
  afterEach(() => machine.remove());

  it("changes nothing when the request was taken back and the window closed", () => {
    machine.put("/var/lib/foresail/agent/configuration", OTHER);
    replaceAtBegin(machine, { [DESIRED]: OTHER, [KEYS.changesAllowed]: "false" });
    const { status, output } = machine.run("--once");
    assert.equal(status, 75, output);
    assert.equal(machine.annotations[KEYS.ready], "true");
    assert.equal(machine.read(UNFINISHED), "no");
    assert.equal(machine.run("--once").status, 0);
    assert.deepEqual(installed(machine), []);
    assert.equal(machine.annotations[KEYS.ready], "true");
    assert.ok(!machine.exists("/var/lib/foresail/agent/before"));
  });

  it("carries out only the later request", () => {
    machine.stage("configuration", OTHER);
    replaceAtBegin(machine, { [DESIRED]: OTHER });
    assert.equal(machine.run("--once").status, 75);
    assert.equal(machine.run("--once").status, 0);
    assert.equal(machine.annotations[KEYS.current("configuration")], OTHER);
    assert.ok(installed(machine).every((change) => change.includes(OTHER)));
    assert.equal(machine.annotations[KEYS.ready], "true");
  });

  it("goes on with what an earlier change has left", async () => {
    await machine.killAt("after", `install configuration ${ASKED_VERSION} install`);
    machine.stage("configuration", OTHER);
    replaceAtBegin(machine, { [KEYS.desired("os-packages")]: "2026-11", [DESIRED]: OTHER });
    machine.stage(
      "os-packages",
      "2026-11",
      `printf 2026-11 >${machine.folder}/var/lib/foresail/agent/os-packages`,
    );
    const { length } = machine.changes;
    machine.annotate(KEYS.ready, "true");
    assert.equal(machine.run("--once").status, 75);
    assert.equal(machine.read(UNFINISHED), "begun");
    assert.equal(machine.run("--once").status, 0);
    const later = machine.changes
      .slice(length)
      .filter((change) => change.startsWith("install configuration"));
    assert.ok(later.length > 0 && later.every((change) => change.includes(OTHER)), later.join("\n"));
  });

  it("does not go back when the same is wanted again", async () => {
    await machine.killAt("after", `install configuration ${ASKED_VERSION} install`);
    machine.annotate(KEYS.changesAllowed, GO_BACK);
    machine.annotate(KEYS.ready, "true");
    replaceAtBegin(machine, { [KEYS.changesAllowed]: "true" });
    assert.equal(machine.run("--once").status, 75);
    assert.equal(machine.run("--once").status, 0);
    assert.equal(machine.annotations[KEYS.current("configuration")], ASKED_VERSION);
    assert.ok(!machine.calls.some((call) => / restore$/.test(call)));
  });
});
