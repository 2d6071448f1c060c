import assert from "node:assert/strict";
import { AGENT_VERSION } from "../../providers/kubeadm/machine/node-agent";
import { doneTwice } from "../simulation/journal";
import { memberState } from "../simulation/fleet-files";
import { SimulatedFleet } from "../simulation/simulated-fleet";
import { nodesServer } from "./nodes-server";
import type { Handlers } from "../../lib/pulumi/handler-types";
import { handlers } from "../../providers/handlers";
import { configurationVersions } from "../../providers/kubeadm/plan/configuration/configuration";
import { rolledConfiguration } from "../../providers/kubeadm/plan/configuration/rolled-configuration";
import { agentRevision } from "../../providers/kubeadm/plan/rollout/node-agents";
import { annotationKeys, DEFAULT_ANNOTATION_PATTERN } from "../../providers/kubeadm/plan/rollout/annotations";
import { unreachedMachines } from "../../providers/kubeadm/resources/session/machines-session";
import type { PartialFailure } from "../../lib/pulumi/failure";
import { exampleMachine, exampleSpecification } from "../unit/providers/kubeadm/machine/examples";

const NAMES = ["cp-1", "w-1", "w-2"];
const INSTALL = `install node agent ${AGENT_VERSION}`;
const KEYS = annotationKeys();

describe("NodeAgents", function () {
  this.timeout(60_000);
  const { check, diff, ...others } = handlers["kubeadm/NodeAgents"] as Required<Handlers>;
  const create = async (inputs: Desired) => (await others.create(inputs)).outs as Desired;
  const update = async (olds: Desired, news: Desired) =>
    (await others.update("demo", olds, news)).outs as Desired;
  let fleet: SimulatedFleet;
  const { server, kubeconfig, kubeconfigFile, putNode } = nodesServer();

  const putReports = (by: Desired) => {
    for (const machine of by.machines)
      putNode(machine.name, { [KEYS.ready]: "true", [KEYS.revision]: agentRevision(machine, by) });
  };

  beforeEach(async () => {
    server.intercept = () => undefined;
    server.store.objects.clear();
    for (const name of NAMES) putNode(name);
    fleet = await SimulatedFleet.start({ api: { kubeconfigFile, port: server.port }, machines: NAMES });
    for (const name of NAMES) fleet.files.saveState(name, memberState("demo", name, false));
  });
  afterEach(() => fleet.stop());

  const desired = (names: string[], over: Record<string, unknown> = {}) => ({
    specification: exampleSpecification({ source: { bundle: { path: "/opt/bundle/v{version}" } } }),
    machines: names.map((name) => exampleMachine(name, fleet.machine(name))),
    annotations: DEFAULT_ANNOTATION_PATTERN,
    staged: { kubernetes: ["1.36.3"], software: {} },
    kubeconfig: kubeconfig(),
    credentials: { privateKey: fleet.privateKey },
    timeouts: { ssh: 3, dial: 1, prepare: 20, init: 1, join: 1, ready: 1 },
    ...over,
  });
  type Desired = ReturnType<typeof desired> & { agent: string; steps: string[]; pending?: string[] };
  const checked = async (olds: object, news: object): Promise<Desired> =>
    (await check(olds, news)).inputs as Desired;
  const changes = async (olds: object, news: object) =>
    (await diff("demo", olds, await checked(olds, news))).changes;

  it("lists its steps, installs everywhere at once, and has nothing to do the second time", async () => {
    const inputs = await checked({}, desired(NAMES));
    assert.deepEqual(
      inputs.steps,
      NAMES.flatMap((name) => [`${name}: ${INSTALL}`, `${name}: stage 1.36.3`]),
    );
    const outs = await create(inputs);
    for (const name of NAMES) {
      assert.equal(fleet.state(name).agent, AGENT_VERSION);
      assert.deepEqual(fleet.state(name).staged, [
        `node-agent ${AGENT_VERSION}`,
        ...["kubelet", "kubeadm", "kubectl", "images"].map((software) => `${software} 1.36.3`),
      ]);
    }
    assert.deepEqual((await checked(outs, desired(NAMES))).steps, []);
    assert.equal(await changes(outs, desired(NAMES)), false);
  });

  it("keeps the agents of the release before until something else changes on one of them", async () => {
    const outs = { ...(await create(await checked({}, desired(NAMES)))), agent: "1.1.0" };
    putReports(outs);
    const kept = await checked(outs, desired(NAMES));
    assert.deepEqual([kept.steps, kept.agent], [[], "1.1.0"]);
    const changed = await checked(outs, desired(NAMES, { staged: { kubernetes: ["1.36.4"], software: {} } }));
    assert.deepEqual(
      changed.steps.filter((step) => step.includes("install")),
      NAMES.map((name) => `${name}: ${INSTALL}`),
    );
    assert.equal(changed.agent, AGENT_VERSION);
  });

  for (const [agent, isKept] of [
    ["1.9.0", true],
    ["1.8.0", true],
    ["1.5.0", true],
    ["1.4.0", false],
  ] as const)
    it(`${isKept ? "keeps" : "replaces"} agents ${agent} that are to repair drift`, async () => {
      const repairing = desired(NAMES, { drift: "repair" });
      const outs = { ...(await create(await checked({}, repairing))), agent };
      putReports(outs);
      const { steps } = await checked(outs, repairing);
      assert.deepEqual(steps, isKept ? [] : NAMES.map((name) => `${name}: ${INSTALL}`));
    });

  it("installs the agent on a machine that joined later, and touches no other", async () => {
    const outs = await create(await checked({}, desired(["cp-1", "w-1"])));
    const inputs = await checked(outs, desired(NAMES));
    assert.deepEqual(inputs.steps, [`w-2: ${INSTALL}`, "w-2: stage 1.36.3"]);
    await update(outs, inputs);
    assert.deepEqual(fleet.journal.map(({ machine }) => machine).sort(), ["cp-1", "w-1", "w-2"]);
  });

  it("stages what a new spec needs, removes what is no longer needed, and follows another pattern", async () => {
    const outs = await create(await checked({}, desired(["w-1"])));
    const two = desired(["w-1"], {
      staged: { kubernetes: ["1.36.3", "1.35.4"], software: { containerd: "1.7.2" } },
    });
    const inputs = await checked(outs, two);
    assert.deepEqual(inputs.steps, ["w-1: stage 1.35.4", "w-1: stage containerd 1.7.2"]);
    const staged = await update(outs, inputs);
    assert.ok(fleet.state("w-1").staged?.includes("containerd 1.7.2"));
    const back = await checked(staged, desired(["w-1"], { annotations: "[software].example.org" }));
    assert.deepEqual(back.steps, [
      "w-1: follow the annotations [software].example.org",
      "w-1: no longer stage 1.35.4",
      "w-1: no longer stage containerd 1.7.2",
    ]);
  });

  it("stages a changed configuration, of which a worker has no static pods, and nothing again when it is there", async () => {
    const outs = await create(await checked({}, desired(["cp-1", "w-1"])));
    const specification = {
      ...outs.specification,
      files: [{ path: "/etc/motd", content: "", mode: "0600" }],
    };
    const configuration = rolledConfiguration(outs, specification);
    const news = { ...desired(["cp-1", "w-1"]), specification, ...(configuration && { configuration }) };
    const versions = configurationVersions(specification);
    const inputs = await checked(outs, news);
    assert.deepEqual(inputs.steps, [
      `cp-1: stage configuration ${versions["control-plane"]}`,
      `w-1: stage configuration ${versions.worker}`,
    ]);
    const staged = await update(outs, inputs);
    assert.ok(fleet.state("w-1").staged?.includes(`configuration ${versions.worker}`));
    assert.deepEqual((await checked(staged, news)).steps, []);
  });

  it("touches no worker for a change of the API server, now or when it is done", async () => {
    const outs = await create(await checked({}, desired(NAMES)));
    putReports(outs);
    const apiServer = { extraArgs: [{ name: "profiling", value: "false" }] };
    const specification = { ...outs.specification, kubeadm: { clusterConfiguration: { apiServer } } };
    const configuration = rolledConfiguration(outs, specification);
    const news = { ...desired(NAMES), specification, ...(configuration && { configuration }) };
    const inputs = await checked(outs, news);
    assert.deepEqual(inputs.steps, [
      `cp-1: stage configuration ${configurationVersions(specification)["control-plane"]}`,
    ]);
    const before = fleet.journal.length;
    const staged = await update(outs, inputs);
    assert.deepEqual(
      fleet.journal.slice(before).map(({ machine }) => machine),
      ["cp-1"],
    );
    putReports(staged);
    assert.deepEqual((await checked(staged, news)).steps, []);
  });

  it("reinstalls on a machine that was rebuilt under its old name", async () => {
    const outs = await create(await checked({}, desired(["cp-1"])));
    const rebuilt = desired(["cp-1"]);
    rebuilt.machines[0]!.hostKey = "ssh-ed25519 AAAAanother";
    assert.deepEqual((await checked(outs, rebuilt)).steps, [`cp-1: ${INSTALL}`, "cp-1: stage 1.36.3"]);
  });

  it("does nothing for another script, port or key, and records that a machine was removed", async () => {
    const outs = await create(await checked({}, desired(NAMES)));
    const moved = desired(NAMES, { credentials: { privateKey: "another" } });
    moved.machines = moved.machines.map((machine) => ({ ...machine, port: 2222 }));
    // it is in pods
    moved.specification = { ...moved.specification, kubeProxy: { mode: "nftables" } };
    assert.equal(await changes(outs, moved), false);
    assert.deepEqual((await checked(outs, desired(["cp-1"]))).steps, []);
    assert.equal(await changes(outs, desired(["cp-1"])), true);
  });

  it("continues without a worker that SSH does not reach, and handles only that one in the next run", async () => {
    fleet.powerOff("w-1");
    const inputs = await checked({}, desired(NAMES));
    const first = await create(inputs);
    assert.deepEqual(first.pending, ["w-1"]);
    assert.deepEqual(unreachedMachines("demo"), ["w-1"]);
    assert.deepEqual([fleet.state("cp-1").agent, fleet.state("w-2").agent], [AGENT_VERSION, AGENT_VERSION]);
    fleet.powerOn("w-1");
    const again = await checked(inputs, desired(NAMES));
    assert.deepEqual(again.steps, [`w-1: ${INSTALL}`, "w-1: stage 1.36.3"]);
    assert.equal((await diff("demo", first, again)).changes, true);
    const outs = await update(first, again);
    assert.deepEqual(outs.pending, []);
    assert.deepEqual(unreachedMachines("demo"), []);
    assert.equal(fleet.state("w-1").agent, AGENT_VERSION);
    assert.deepEqual(doneTwice(fleet.journal, ["node-agent"]), []);
  });

  it("says in the preview that a worker whose kubelet stopped reporting is left out, and does not connect to it", async () => {
    const outs = await create(await checked({}, desired(NAMES)));
    const staged = { kubernetes: ["1.36.3", "1.35.4"], software: {} };
    const node = server.store.objects.get("/api/v1/nodes/w-1")!;
    const dead = { type: "Ready", status: "Unknown", reason: "NodeStatusUnknown" };
    server.store.put("/api/v1/nodes/w-1", { ...node, status: { conditions: [dead] } });
    // nothing is left out of a cluster in which nothing is to be done
    assert.deepEqual((await checked(outs, desired(NAMES))).steps, []);
    const news = await checked(outs, desired(NAMES, { staged }));
    assert.deepEqual(news.steps, [
      "cp-1: stage 1.35.4",
      "w-1: left out, its Node is not Ready (NodeStatusUnknown); the next `up` continues with it",
      "w-2: stage 1.35.4",
    ]);
    const before = fleet.journal.length;
    assert.deepEqual((await update(outs, news)).pending, ["w-1"]);
    const asked = fleet.journal.slice(before).map(({ machine }) => machine);
    assert.deepEqual(asked.sort(), ["cp-1", "w-2"]);
  });

  it("leaves out a control plane only as far as the configuration and etcd's quorum tolerate", async () => {
    const planes = ["cp-1", "cp-2", "cp-3"];
    const others = await SimulatedFleet.start({
      api: { kubeconfigFile, port: server.port },
      machines: planes,
    });
    try {
      const of = (unreachable: number | undefined) =>
        desired([], {
          machines: planes.map((name) => exampleMachine(name, others.machine(name))),
          credentials: { privateKey: others.privateKey },
          ...(unreachable === undefined ? {} : { unreachable }),
        });
      for (const name of planes) {
        putNode(name);
        others.files.saveState(name, memberState("demo", name, true));
      }
      others.powerOff("cp-3");
      await assert.rejects(create(await checked({}, of(undefined))), /install on cp-3 failed/);
      assert.deepEqual((await create(await checked({}, of(1)))).pending, ["cp-3"]);
      others.powerOff("cp-2");
      await assert.rejects(create(await checked({}, of(3))), /install on cp-2, cp-3 failed/);
    } finally {
      await others.stop();
    }
  });

  it("names a control plane that it can't reach, and keeps what was done", async () => {
    fleet.powerOff("cp-1");
    const failure = (await create(await checked({}, desired(NAMES))).then(
      () => assert.fail("it should have failed"),
      (error: unknown) => error,
    )) as PartialFailure & { properties: Desired };
    assert.match(failure.message, /install on cp-1 failed.*\n?.*cp-1: install the node agent failed/s);
    assert.deepEqual(failure.properties.pending, ["cp-1"]);
    assert.deepEqual([fleet.state("w-1").agent, fleet.state("w-2").agent], [AGENT_VERSION, AGENT_VERSION]);
  });

  it("fails when an agent never reports, with what it logged, and installs it again in the next run", async () => {
    const outs = await checked({}, desired(NAMES));
    fleet.files.saveState("w-1", { ...fleet.state("w-1"), silent: true });
    const failure = (await create(outs).then(
      () => assert.fail("it should have failed"),
      (error: unknown) => error,
    )) as PartialFailure & { properties: Desired };
    assert.match(
      failure.message,
      /w-1: wait for the node agent failed.*not reported on its Node within 1 s; its log ends with:\s*node agent of w-1/s,
    );
    assert.deepEqual(failure.properties.pending, ["w-1"]);
    fleet.files.saveState("w-1", { ...fleet.state("w-1"), silent: false });
    const left = await checked(failure.properties, desired(NAMES));
    assert.deepEqual(left.steps, [`w-1: ${INSTALL}`, "w-1: stage 1.36.3"]);
    assert.deepEqual((await update(failure.properties, left)).pending, []);
  });

  it("lists only the machine that a failed change left out, by the agents' own status", async () => {
    const olds = await checked({}, desired(NAMES));
    const outs = await create(olds);
    const staged = { kubernetes: ["1.36.3", "1.35.4"], software: {} };
    const news = await checked(outs, desired(NAMES, { staged }));
    assert.deepEqual(
      news.steps,
      NAMES.map((name) => `${name}: stage 1.35.4`),
    );
    fleet.inject({ operation: "node-agent", machine: "w-2", kind: "fail", stderr: "disk full" });
    await assert.rejects(update(outs, news), /disk full/);
    const left = await checked(news, desired(NAMES, { staged }));
    assert.deepEqual(left.steps, [`w-2: ${INSTALL}`, "w-2: stage 1.36.3", "w-2: stage 1.35.4"]);
    const before = fleet.journal.length;
    const fixed = await update(news, left);
    assert.deepEqual(
      fleet.journal.slice(before).map(({ machine }) => machine),
      ["w-2"],
    );
    assert.deepEqual((await checked(fixed, desired(NAMES, { staged }))).steps, []);
  });

  it("treats a machine as done when its agent reports so, whichever run installed it", async () => {
    const outs = await create(await checked({}, desired(NAMES)));
    const staged = { kubernetes: ["1.36.3", "1.35.4"], software: {} };
    // another stack, or a run whose connection broke after the effect
    await update(outs, await checked(outs, desired(NAMES, { staged })));
    assert.deepEqual((await checked(outs, desired(NAMES, { staged }))).steps, []);
  });

  it("lists steps from the record when the cluster can't be read, and says so first", async () => {
    const outs = await create(await checked({}, desired(["cp-1", "w-1"])));
    server.intercept = () => ({ status: 500, message: "etcd is away" });
    const unread = ["cp-1", "w-1"].map((name) => `${name}: unread: what its node agent has installed`);
    const [why, ...same] = (await checked(outs, desired(["cp-1", "w-1"]))).steps;
    assert.match(why!, /^from the recorded state, since the cluster could not be read: .*etcd is away/s);
    assert.deepEqual(same, unread);
    const inputs = await checked(outs, desired(NAMES));
    assert.deepEqual(inputs.steps.slice(1), [`w-2: ${INSTALL}`, "w-2: stage 1.36.3", ...unread]);
    server.intercept = () => undefined;
    const before = fleet.journal.length;
    await update(outs, inputs);
    assert.deepEqual(
      fleet.journal.slice(before).map(({ machine }) => machine),
      ["w-2"],
    );
  });

  it("refuses versions that its source can't serve, in check", async () => {
    const staged = { kubernetes: ["1.36.3", "1.35.4"], software: {} };
    const reason = async (bundle: object) => {
      const specification = { ...exampleSpecification(), source: { bundle } };
      const { failures = [] } = await check({}, desired(NAMES, { staged, specification }));
      return failures[0]?.reason ?? "";
    };
    assert.match(await reason({ path: "/opt/bundle" }), /write \{version\} into the path/);
    assert.match(
      await reason({ url: "https://example.com/{version}.tar.gz", sha256: "0" }),
      /checksum of one version/,
    );
    assert.equal(await reason({ path: "/opt/bundle/{version}" }), "");
  });
});
