import assert from "node:assert/strict";
import { readPreview } from "../../cli/review/preview";
import { machineOfStep } from "../../lib/steps/steps";
import {
  clusterInitSteps,
  clusterOwnerSteps,
  loopbackEndpointSteps,
  nodeAgentsSteps,
  nodeGroupSteps,
  readerAccountSteps,
} from "../../providers/kubeadm/plan/steps";
import { writesOf } from "../simulation/journal";
import { desiredCluster } from "./desired-cluster";
import { killedDuring } from "./killed-up";
import { simulatedFixture } from "./simulated-fixture";

const MACHINES = ["cp-1", "cp-2", "cp-3", "w-1", "w-2"];
const TABLES = [
  clusterOwnerSteps,
  clusterInitSteps,
  nodeGroupSteps,
  nodeAgentsSteps,
  readerAccountSteps,
  loopbackEndpointSteps,
];

/** The operation on a machine that a kind of line promises; others are done through the API, or with another operation. */
const PROMISES: Readonly<Record<string, string>> = {
  writeFiles: "prepare",
  replaceFiles: "prepare",
  installPackages: "prepare",
  installPrograms: "prepare",
  setKernel: "prepare",
  init: "init",
  join: "join-worker",
  joinControlPlane: "join-control-plane",
};

/** Returns "OPERATION MACHINE" of each line that promises one, each once, in the order of the lines. */
function promised(lines: readonly string[]): string[] {
  const all = lines.flatMap((line) => {
    const step = TABLES.map((table) => table.parse(line)).find((each) => each !== undefined);
    assert.ok(step, `no table has the line: ${line}`);
    const operation = PROMISES[step.kind];
    return operation === undefined ? [] : [`${operation} ${machineOfStep(step)}`];
  });
  return [...new Set(all)];
}

describe("the first up of a cluster, under the engine", function () {
  this.timeout(300_000);
  const fixture = simulatedFixture({ machines: [...MACHINES, "w-3"] });
  const want = (machines: string[]) =>
    fixture.stack.configure({ cluster: desiredCluster(fixture.fleet, machines) });

  /** The lines of a preview that are steps, by resource in the order of the preview. */
  async function previewed(): Promise<string[]> {
    const { stdout } = await fixture.stack.call(["preview", "--json"]);
    return readPreview(stdout).changes.flatMap(({ steps }) => steps);
  }

  /** What machines did since a moment, "OPERATION MACHINE" each, for the operations that lines promise. */
  function done(from: number): string[] {
    const promises = new Set(Object.values(PROMISES));
    return writesOf(fixture.fleet.journal.slice(from))
      .filter(({ operation, outcome }) => promises.has(operation) && outcome === "done")
      .map(({ operation, machine }) => `${operation} ${machine}`);
  }

  /** Compares a preview with the run after it: each line with what happened, and the reverse. */
  async function compared(): Promise<string[]> {
    const lines = await previewed();
    const from = fixture.fleet.journal.length;
    await fixture.stack.up();
    assert.deepEqual(done(from).sort(), promised(lines).sort());
    return lines;
  }

  it("lists what is left after a run that was killed in the middle", async () => {
    want(["cp-1", "w-1"]);
    const all = promised(await previewed());
    assert.deepEqual(all, ["prepare cp-1", "prepare w-1", "init cp-1", "join-worker w-1"]);
    fixture.fleet.inject({ operation: "prepare", machine: "w-1", kind: "fail", stderr: "no space" });
    assert.notEqual((await fixture.stack.call(["up", "--yes", "--skip-preview"])).exitCode, 0);
    const afterFailure = promised(await previewed());
    assert.ok(
      afterFailure.includes("prepare w-1") && !afterFailure.includes("prepare cp-1"),
      String(afterFailure),
    );
    // the machine ends what the killed run had begun
    await killedDuring(fixture, { operation: "prepare", machine: "w-1" });
    const left = promised(await compared());
    assert.ok(left.includes("join-worker w-1") && !left.includes("prepare w-1"), String(left));
    await fixture.stack.destroy();
  });

  it("is what its preview listed, line by line", async () => {
    want(MACHINES);
    const lines = await compared();
    assert.deepEqual(
      // the groups are registered beside each other
      lines.filter((line) => /^(cp-1|w-2): /.test(line)).sort(),
      [
        "cp-1: write /etc/sysctl.d/90-foresail.conf",
        "cp-1: set for the kernel net.ipv4.ip_forward = 1",
        "cp-1: install from its distribution containerd 2.2.1-1",
        "cp-1: install kubeadm, kubelet, kubectl 1.36.3 from the bundle",
        "w-2: write /etc/sysctl.d/90-foresail.conf",
        "w-2: set for the kernel net.ipv4.ip_forward = 1",
        "w-2: install from its distribution containerd 2.2.1-1",
        "w-2: install kubeadm, kubelet, kubectl 1.36.3 from the bundle",
        "cp-1: kubeadm init, unless a control plane is a member already; Kubernetes 1.36.3 with etcd 3.6.8-0, CoreDNS v1.14.2, pause 3.10.2",
        "w-2: join as worker of workers, wait until Ready",
        "cp-1: is a member without the label of its group: wait until Ready, set its labels and taints",
        "cp-1: install node agent 1.15.0",
        "cp-1: stage 1.36.3",
        "w-2: install node agent 1.15.0",
        "w-2: stage 1.36.3",
      ].sort(),
    );
    // what the run itself had planned is what was previewed, resource by resource
    const { deployment } = await fixture.stack.export();
    const { resources = [] } = deployment;
    const stored = resources.map(({ inputs, outputs }) => JSON.stringify([inputs, outputs]));
    assert.deepEqual(
      stored.flatMap((text) => text.match(/.{0,60}(credentialsSum|preparations).{0,60}/g) ?? []),
      [],
    );
    const ran = resources.flatMap(({ inputs }) => (inputs?.["steps"] as string[] | undefined) ?? []);
    assert.deepEqual([...ran].sort(), [...lines].sort());
    const from = fixture.fleet.journal.length;
    assert.deepEqual(await previewed(), []);
    assert.deepEqual(fixture.fleet.journal.slice(from), []);
  });

  it("lists a machine that is added, and reads no other one", async () => {
    want([...MACHINES, "w-3"]);
    const from = fixture.fleet.journal.length;
    const lines = await previewed();
    const asked = fixture.fleet.journal
      .slice(from)
      .filter(({ operation }) => operation === "machine-reading");
    assert.deepEqual(
      asked.map(({ machine }) => machine),
      ["w-3"],
    );
    assert.deepEqual(promised(lines), ["prepare w-3", "join-worker w-3"]);
    assert.deepEqual(promised(await compared()), ["prepare w-3", "join-worker w-3"]);
  });

  it("says of a machine that does not answer that its lines are not known", async () => {
    await fixture.stack.destroy();
    want(["cp-1", "w-1"]);
    for (const operation of ["machine-facts", "machine-reading"] as const)
      fixture.fleet.inject({ operation, machine: "w-1", kind: "fail", stderr: "no answer" });
    const lines = await previewed();
    assert.ok(lines.includes("unknown until the machines answer; wanted: w-1"), lines.join("\n"));
    assert.ok(!promised(lines).includes("prepare w-1"));
  });
});
