import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { AGENT_VERSION } from "../../../../../providers/kubeadm/machine/node-agent";
import { NODE_PATHS } from "../../../../../providers/kubeadm/plan/cluster/node-paths";
import { annotationKeys } from "../../../../../providers/kubeadm/plan/rollout/annotations";
import { AgentMachine } from "./agent-machine";

const KEYS = annotationKeys();

describe("a node agent that serves", function () {
  this.timeout(120_000);
  let machine: AgentMachine;
  let child: ChildProcess | undefined;
  const serve = () => (child = machine.start());
  beforeEach(() => (machine = new AgentMachine({ cluster: "1.36.3" })));
  afterEach(() => {
    if (child?.exitCode === null) process.kill(-child.pid!, "SIGKILL");
    child = undefined;
    machine.remove();
  });

  it("sees a desired version by watching only its own Node", async () => {
    serve();
    await machine.until(() => machine.annotations[KEYS.ready] === "true", "the first status on the Node");
    machine.setDesired("1.36.3");
    await machine.until(() => machine.versions.running === "1.36.3", "the kubelet's new version");
    await machine.until(() => machine.annotations[KEYS.ready] === "true", "ready");
    const watches = machine.calls.filter((call) => call.includes("--watch"));
    assert.ok(watches.length > 0);
    assert.ok(watches.every((call) => call.includes("--field-selector metadata.name=w-1")));
    assert.ok(machine.calls.every((call) => !/kubectl .*(token|password|key-data)/.test(call)));
    // the watch has told it the rest; it asks once more when it begins
    const reads = machine.calls.filter((call) => /kubectl .*get node w-1/.test(call));
    assert.equal(reads.filter((call) => !call.includes(".status.conditions")).length, 2);
  });

  it("begins when its machine is a member, and takes none of the files that the join has written for drift", async () => {
    machine.take(NODE_PATHS.member);
    serve();
    await machine.until(() => /node agent .* of w-1/.test(machine.log), "the agent's first line");
    assert.deepEqual(machine.calls, []);
    machine.put("/var/lib/kubelet/kubeadm-flags.env", "KUBELET_KUBEADM_ARGS=--node-ip=10.0.0.101\n");
    assert.equal(machine.annotations[KEYS.ready], undefined);
    machine.put(NODE_PATHS.member, "2026-11-25T00:00:00Z\n");
    await machine.until(() => machine.annotations[KEYS.ready] === "true", "the first status on the Node");
    assert.equal(machine.annotations[KEYS.current("drift")], undefined);
  });

  for (const [cluster, times] of [
    ["1.36.3", 1],
    ["1.35.4", 2],
  ] as const)
    it(`asks for the cluster's version before the request, and again if that was too old: ${cluster}`, async () => {
      machine.setVersion("cluster", cluster);
      machine.annotate(KEYS.changesAllowed, "true");
      serve();
      await machine.until(() => machine.annotations[KEYS.ready] === "true", "the first status on the Node");
      machine.setVersion("cluster", "1.36.3");
      machine.setDesired("1.36.3");
      await machine.until(() => machine.versions.running === "1.36.3", "the kubelet's new version");
      await machine.until(() => machine.annotations[KEYS.ready] === "true", "ready");
      assert.equal(machine.calls.filter((call) => /get configmap kubeadm-config/.test(call)).length, times);
    });

  it("asks a staged program for its version while its node is drained, and not after the installation", async () => {
    const staged = `${NODE_PATHS.agentStaged}/1.36.3/kubelet`;
    const log = path.join(machine.folder, "state/asked");
    machine.put(staged, `#!/bin/bash\necho >>${log}\necho Kubernetes v1.36.3\n`, 0o755);
    machine.stage("kubelet", "1.36.3", `mv ${machine.folder}${staged} ${machine.folder}/programs/kubelet`);
    machine.annotate(KEYS.changesAllowed, "true");
    serve();
    await machine.until(() => existsSync(log), "the question");
    machine.setDesired("1.36.3");
    await machine.until(() => machine.annotations[KEYS.current("kubelet")] === "v1.36.3", "the new version");
    assert.equal(readFileSync(log, "utf8"), "\n");
  });

  it("waits for the machine's lock before its first change", async () => {
    machine.setDesired("1.36.3");
    const release = await machine.holdLock("/run/foresail.lock");
    serve();
    await machine.until(() => /another step of foresail runs/.test(machine.log), "the agent's message");
    assert.deepEqual(
      machine.changes.filter((change) => change.includes("ready=false") || !change.startsWith("annotate")),
      [],
    );
    release();
    await machine.until(() => machine.annotations[KEYS.ready] === "true", "ready");
    assert.equal(machine.versions.running, "1.36.3");
  });

  it("leaves the Node to another agent as long as that one runs", async () => {
    const release = await machine.holdLock("/run/foresail-node-agent.lock");
    serve();
    await machine.until(() => /another node agent runs/.test(machine.log), "the agent's message");
    assert.deepEqual(machine.calls, []);
    release();
    await machine.until(() => machine.annotations[KEYS.ready] === "true", "ready");
  });

  it("replaces its own program first, and continues with the new one", async () => {
    const program = `${machine.folder}/usr/local/lib/foresail/node-agent`;
    machine.stage("node-agent", "9.0.0", `sed -i 's/^AGENT_VERSION=.*/AGENT_VERSION=9.0.0/' ${program}`);
    machine.annotate(KEYS.desired("node-agent"), "9.0.0");
    machine.setDesired("1.36.3");
    serve();
    await machine.until(() => machine.annotations[KEYS.ready] === "true", "ready");
    assert.equal(machine.annotations[KEYS.current("node-agent")], "9.0.0");
    assert.match(
      machine.log,
      new RegExp(`node agent ${AGENT_VERSION} of w-1[^]*node agent 9\\.0\\.0 of w-1`),
    );
    assert.ok(machine.log.indexOf("node agent 9.0.0 of w-1") < machine.log.indexOf("install kubeadm"));
    assert.equal(machine.versions.running, "1.36.3");
  });
});
