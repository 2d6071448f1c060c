import assert from "node:assert/strict";
import { obeyAnnotations, type Seen } from "../simulation/simulated-agents";
import { awaitPower } from "./node-power";
import { desiredCluster } from "./desired-cluster";
import { simulatedFixture } from "./simulated-fixture";

const PLANES = ["cp-1", "cp-2", "cp-3"];
const WORKERS = ["w-1", "w-2"];
const ALL = [...PLANES, ...WORKERS];
const [OLD, NEW, NEXT] = ["1.35.4", "1.36.3", "1.36.4"] as const;
const LEFT_OUT =
  "left out, its Node is not Ready (NodeStatusUnknown: Kubelet stopped posting node status.); the next `up` continues with it";

describe("unreachable machines under the engine", function () {
  this.timeout(300_000);
  const fixture = simulatedFixture({ machines: ALL, version: `v${OLD}` });
  const seen: Seen = [];
  const stop = new AbortController();
  let agents: Promise<void>;
  const want = (version: string, machines: string[], rollout: object = { unreachable: 1 }) =>
    fixture.stack.configure({ cluster: desiredCluster(fixture.fleet, machines, { version, rollout }) });
  const power = async (isOn: boolean, ...names: string[]) => {
    for (const name of names) {
      if (isOn) fixture.fleet.powerOn(name);
      else fixture.fleet.powerOff(name);
      await awaitPower(fixture.kubernetes, name, isOn);
    }
  };
  /** The lines of a preview about one machine, by resource. */
  const linesAbout = async (machine: string) => {
    const steps = await fixture.stack.preview();
    const lines = steps.map(({ name, inputs }) => {
      const own = ((inputs.steps as string[] | undefined) ?? []).filter((line) =>
        new RegExp(`^${machine}[: ]`).test(line),
      );
      return [name, own] as const;
    });
    return Object.fromEntries(lines.filter(([, own]) => own.length > 0));
  };
  const versionOf = async (machine: string) => {
    const nodes = await fixture.kubernetes.listNodes();
    return nodes.find(({ metadata }) => metadata?.name === machine)?.status?.nodeInfo?.kubeletVersion;
  };

  before(async () => {
    const metadata = { namespace: "kube-system", name: "kubeadm-config" };
    const data = { ClusterConfiguration: `kubernetesVersion: v${OLD}\n` };
    await fixture.kubernetes.create({ apiVersion: "v1", kind: "ConfigMap", metadata, data });
    agents = obeyAnnotations(fixture.kubernetes, seen, { milliseconds: 300, signal: stop.signal });
    want(OLD, ["cp-1", ...WORKERS], {});
    await fixture.stack.up();
  });
  after(async () => {
    stop.abort();
    await agents;
  });

  it("are left out of everything within the limit: the preview lists them, up prints them and succeeds", async () => {
    await power(false, "w-1");
    want(NEW, ALL);
    const line = `w-1: ${LEFT_OUT}`;
    assert.deepEqual(await linesAbout("w-1"), {
      "test-endpoint": [line],
      "test-node-agents": [line],
      "test-rollout": [line],
    });
    const before = fixture.stack.printed.length;
    await fixture.stack.up();
    const printed = fixture.stack.printed.slice(before);
    for (const resource of ["LoopbackEndpoint test", "NodeAgents test", "NodeRollout test"])
      assert.ok(printed.includes(`${resource}: ${line}`), resource);
    for (const name of ALL) assert.equal(await versionOf(name), `v${name === "w-1" ? OLD : NEW}`, name);
    assert.ok(
      !fixture.fleet.journal.some(({ machine, operation }) => machine === "w-1" && operation === "endpoint"),
    );
  });

  it("are caught up by the next run after they are back, and nothing is left then", async () => {
    await power(true, "w-1");
    const { "test-endpoint": endpoint, "test-rollout": rollout } = await linesAbout("w-1");
    assert.deepEqual(endpoint, ["w-1: put cp-1, cp-2, cp-3 behind 127.0.0.1"]);
    assert.deepEqual(rollout, [`w-1 ${OLD} → ${NEW} (cordon, drain, kubeadm upgrade node, uncordon)`]);
    const before = fixture.fleet.journal.length;
    await fixture.stack.up();
    const rewritten = fixture.fleet.journal.slice(before).filter(({ operation }) => operation === "endpoint");
    assert.deepEqual(
      rewritten.map(({ machine }) => machine),
      ["w-1"],
    );
    assert.equal(await versionOf("w-1"), `v${NEW}`);
    assert.deepEqual(Object.keys(await fixture.stack.up()), ["unchanged"]);
  });

  it("fail the run above the limit, after everything else is done", async () => {
    await power(false, ...WORKERS);
    want(NEXT, ALL);
    const { exitCode, stdout, stderr } = await fixture.stack.call(["up", "--yes", "--skip-preview"]);
    assert.notEqual(exitCode, 0);
    const excess = "2 machines can't be reached, and rollout.unreachable allows 1 of 5 machines";
    assert.match(stdout + stderr, new RegExp(`NodesLeftOut.*w-1 was left out.*w-2 was left out.*${excess}`));
    for (const name of ALL)
      assert.equal(await versionOf(name), `v${PLANES.includes(name) ? NEXT : NEW}`, name);
    await power(true, ...WORKERS);
    await fixture.stack.up();
    for (const name of WORKERS) assert.equal(await versionOf(name), `v${NEXT}`, name);
    assert.deepEqual(Object.keys(await fixture.stack.up()), ["unchanged"]);
  });
});
