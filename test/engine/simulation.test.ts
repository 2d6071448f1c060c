import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { after, afterEach, before, describe, it } from "mocha";
import { stringify } from "yaml";
import { acquireLease, drainNode, KubernetesClient, KubernetesError, type Node } from "../../lib/kubernetes";
import { runScript, SshConnection, SshConnectionLost, SshUnreachable } from "../../lib/ssh";
import {
  type Script,
  adminKubeconfigScript,
  factsScript,
  initScript,
  joinData,
  joinScript,
  leaveControlPlaneScript,
  prepareScript,
  resetScript,
  withOwner,
} from "../../providers/kubeadm/machine/steps";
import {
  etcdMembersScript,
  etcdRemoveScript,
  parseEtcdMembers,
} from "../../providers/kubeadm/machine/membership/etcd-steps";
import { BareApiServer } from "../simulation/bare-api-server";
import { doneTwice } from "../simulation/journal";
import { simulationPrograms } from "../simulation/programs";
import { SimulatedFleet } from "../simulation/simulated-fleet";
import { exampleMachine, exampleSpecification } from "../unit/providers/kubeadm/machine/examples";

const CLUSTER = "test";
const SPECIFICATION = exampleSpecification({ name: CLUSTER });
const OWNER = { id: "0f8a3f0e-6a44-4b1c-9d4e-7d1f2c3b4a59", stack: "organization/foresail/test" };
const TOKEN = { id: "abcdef", secret: "0123456789abcdef" };

const FACTS = { member: false, controlPlane: false, unnamed: false, reset: false };

describe("simulated machines and a bare API server", function () {
  this.timeout(60_000);
  let api: BareApiServer;
  let fleet: SimulatedFleet;
  let client: KubernetesClient;
  const open = new Map<string, SshConnection>();

  before(async function () {
    // the programs may have to be built first
    this.timeout(1_800_000);
    const controllers = ["bootstrap-signer-controller", "token-cleaner-controller", "disruption-controller"];
    api = await new BareApiServer({ programs: await simulationPrograms(), controllers }).start();
    client = await KubernetesClient.connect({ kubeconfig: api.kubeconfig() }, { seconds: 10 });
    fleet = await SimulatedFleet.start({ api, machines: ["cp-1", "cp-2", "w-1", "w-2"] });
  });
  afterEach(() => {
    for (const connection of open.values()) connection.close();
    open.clear();
  });
  after(async () => {
    client?.close();
    await fleet?.stop();
    await api?.stop();
  });

  async function run(script: Script, data?: string, name = script.machine): Promise<string> {
    let connection = open.get(name);
    if (!connection || connection.closed) {
      const target = { ...fleet.machine(name), privateKey: fleet.privateKey };
      connection = await SshConnection.open(target, { seconds: 2 });
      open.set(name, connection);
    }
    return (await runScript(connection, { ...withOwner(script, OWNER), data, seconds: 20 })).stdout;
  }

  const prepare = (machine: string) => prepareScript(SPECIFICATION, exampleMachine(machine), []);
  const registration = (name: string) => ({ nodeRegistration: { name, taints: [] } });
  const initial = (name: string) => stringify({ kind: "InitConfiguration", ...registration(name) });
  const joining = (name: string, token = `${TOKEN.id}.${TOKEN.secret}`) =>
    joinData({
      configuration: stringify({
        kind: "JoinConfiguration",
        ...registration(name),
        ...(name.startsWith("cp") ? { controlPlane: {} } : {}),
        discovery: { tlsBootstrapToken: token },
      }),
      discovery: "clusters: [{cluster: {server: x}}]",
      secrets: name.startsWith("cp") ? "c2VjcmV0" : undefined,
    });
  const facts = async (name: string) => JSON.parse(await run(factsScript(CLUSTER, name))) as object;
  const isReady = async (name: string) =>
    (await client.getNode(name))?.status?.conditions?.find(({ type }) => type === "Ready")?.status;

  it("serves server-side apply, and names the other owner of a field", async () => {
    const object = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "shared", namespace: "default" },
    };
    await client.apply({ ...object, data: { a: "1" } });
    await client.apply({ ...object, data: { a: "1" } });
    const other = client.apply({ ...object, data: { a: "2" } }, { fieldManager: "other" });
    await assert.rejects(
      other,
      (error: KubernetesError) => error.status === 409 && /"foresail"/.test(error.message),
    );
    const forced = await client.apply(
      { ...object, data: { a: "2" } },
      { fieldManager: "other", force: true },
    );
    assert.deepEqual(forced.data, { a: "2" });
  });

  it("grants the cluster's Lease to one holder at a time", async () => {
    const quick = { seconds: 10, durationSeconds: 2, renewSeconds: 0.5 };
    const [ann, bob] = [
      { user: "ann", stack: "prod", host: "laptop", pid: 1 },
      { user: "bob", stack: "prod", host: "runner", pid: 2 },
    ];
    const first = await acquireLease(client, ann, quick);
    await assert.rejects(acquireLease(client, bob, quick), /^LeaseHeld: ann@laptop \(stack prod/);
    const second = acquireLease(client, bob, { ...quick, waitForLiving: true });
    await pause(2500);
    assert.equal(first.signal.aborted, false);
    await first.release();
    const held = await second;
    assert.equal(held.signal.aborted, false);
    await held.release();
  });

  it("creates a control plane whose API is reached at its own port, and nothing twice", async () => {
    await assert.rejects(run(initScript(SPECIFICATION, "cp-1", "foresail-1"), initial("cp-1")), {
      exitCode: 78,
      message: /nothing is prepared/,
    });
    await run(prepare("cp-1"), "");
    assert.deepEqual(await facts("cp-1"), { ...FACTS, reset: true });
    await run(initScript(SPECIFICATION, "cp-1", "foresail-1"), initial("cp-1"));
    await run(initScript(SPECIFICATION, "cp-1", "foresail-1"), initial("cp-1"));
    assert.deepEqual(await facts("cp-1"), { ...FACTS, member: true, controlPlane: true });
    const port = Number(fleet.machine("cp-1").apiServer.split(":")[1]);
    assert.match(await run(adminKubeconfigScript(CLUSTER, "cp-1")), /client-key-data/);
    const own = await KubernetesClient.connect({ kubeconfig: api.kubeconfig(port) }, { seconds: 5 });
    const [node] = await own.listNodes();
    own.close();
    assert.deepEqual([node?.metadata?.name, node?.spec?.podCIDR], ["cp-1", "10.244.0.0/24"]);
    assert.deepEqual(doneTwice(fleet.journal, ["init"]), []);
  });

  it("joins machines whose token the cluster has", async () => {
    await run(prepare("w-1"), "");
    const refused = run(joinScript(SPECIFICATION, exampleMachine("w-1")), joining("w-1"));
    await assert.rejects(refused, /bootstrap token is not in the cluster/);
    await client.create({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: `bootstrap-token-${TOKEN.id}`, namespace: "kube-system" },
      type: "bootstrap.kubernetes.io/token",
      stringData: {
        "token-id": TOKEN.id,
        "token-secret": TOKEN.secret,
        "usage-bootstrap-authentication": "true",
      },
    });
    await run(joinScript(SPECIFICATION, exampleMachine("w-1")), joining("w-1"));
    await run(prepare("cp-2"), "");
    await run(joinScript(SPECIFICATION, exampleMachine("cp-2")), joining("cp-2"));
    assert.equal(await isReady("w-1"), "True");
    const members = parseEtcdMembers(await run(etcdMembersScript(CLUSTER, "cp-1")));
    assert.deepEqual(
      members.map(({ name, healthy }) => [name, healthy]),
      [
        ["cp-1", true],
        ["cp-2", true],
      ],
    );
  });

  it("runs each script once, fails and drops on request, and makes the next script wait for the lock", async () => {
    fleet.inject({ operation: "prepare", machine: "w-2", kind: "fail", stderr: "disk full", exitCode: 9 });
    await assert.rejects(run(prepare("w-2"), ""), { exitCode: 9, message: /disk full/ });
    assert.equal(fleet.state("w-2").prepared, false);
    fleet.inject({ operation: "prepare", machine: "w-2", kind: "drop" });
    await assert.rejects(run(prepare("w-2"), ""), SshConnectionLost);
    assert.equal(fleet.state("w-2").prepared, false);
    fleet.inject({ operation: "prepare", machine: "w-2", kind: "hang", milliseconds: 600 });
    const slow = run(prepare("w-2"), "");
    await pause(100);
    await Promise.all([slow, facts("w-2")]);
    const [first, second] = fleet.journal.slice(-2);
    assert.ok(first!.operation === "prepare" && second!.startedAt! >= first!.endedAt!);
    fleet.inject({ operation: "join-worker", machine: "w-2", kind: "drop", after: true });
    await assert.rejects(
      run(joinScript(SPECIFICATION, exampleMachine("w-2")), joining("w-2")),
      SshConnectionLost,
    );
    assert.deepEqual(await facts("w-2"), { ...FACTS, member: true });
    assert.deepEqual(fleet.files.faultsLeft, []);
  });

  it("refuses scripts of another cluster", async () => {
    await assert.rejects(run(factsScript("other", "w-1")), { exitCode: 78 });
  });

  it("drains a node with a budget that allows evictions, and pods that terminate", async () => {
    const labels = { app: "web" };
    const ownerReferences = [
      { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "u", controller: true },
    ];
    const pod = (name: string, nodeName: string) => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: "default", labels, ownerReferences },
      spec: { nodeName, containers: [{ name: "web", image: "web" }] },
    });
    const budget = { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name: "web" } };
    await client.create({ ...budget, spec: { minAvailable: 1, selector: { matchLabels: labels } } });
    await client.create(pod("web-1", "w-1"));
    const isCounted = (budgets: { status?: { currentHealthy?: number } }[]) =>
      budgets[0]?.status?.currentHealthy === 1 ? { done: true } : { pending: "not counted" };
    const { apiVersion, kind } = budget;
    await client.watchUntil({ what: "the budget", apiVersion, kind, seconds: 10, decide: isCounted });
    const options = { deleteEmptyDirData: false, force: false };
    const held = drainNode(client, "w-1", { ...options, seconds: 2 });
    await assert.rejects(held, /default\/web-1 held: The disruption budget web needs 1 healthy pods/);
    await client.create(pod("web-2", "w-2"));
    await drainNode(client, "w-1", { ...options, seconds: 20 });
    const left = await client.listPods({ namespace: "default" });
    assert.deepEqual(
      left.map(({ metadata }) => metadata?.name),
      ["web-2"],
    );
  });

  it("loses SSH, API, readiness and etcd health of a machine with its power", async () => {
    fleet.powerOff("cp-2");
    const until = (status: string) => (nodes: Node[]) => {
      const found = nodes[0]?.status?.conditions?.find(({ type }) => type === "Ready")?.status;
      return found === status ? { done: true } : { pending: String(found) };
    };
    const what = { what: "cp-2", apiVersion: "v1", kind: "Node", name: "cp-2", seconds: 10 };
    await client.watchUntil({ ...what, decide: until("Unknown") });
    await assert.rejects(facts("cp-2"), SshUnreachable);
    const members = parseEtcdMembers(await run(etcdMembersScript(CLUSTER, "cp-1")));
    assert.deepEqual(
      members.map(({ healthy }) => healthy),
      [true, false],
    );
    fleet.powerOn("cp-2");
    await client.watchUntil({ ...what, decide: until("True") });
    await facts("cp-2");
  });

  it("removes a control plane: API server, etcd member, machine", async () => {
    const port = Number(fleet.machine("cp-2").apiServer.split(":")[1]);
    await run(leaveControlPlaneScript(CLUSTER, "cp-2"));
    await assert.rejects(KubernetesClient.connect({ kubeconfig: api.kubeconfig(port) }, { seconds: 0.5 }));
    const member = parseEtcdMembers(await run(etcdMembersScript(CLUSTER, "cp-1"))).at(-1)!;
    await run(etcdRemoveScript(CLUSTER, "cp-1", member));
    assert.equal(parseEtcdMembers(await run(etcdMembersScript(CLUSTER, "cp-1"))).length, 1);
    await run(resetScript(CLUSTER, "cp-2"));
    await run(resetScript(CLUSTER, "cp-2"));
    assert.deepEqual(await facts("cp-2"), FACTS);
    assert.deepEqual(doneTwice(fleet.journal, ["reset"]), []);
    assert.equal(await isReady("cp-2"), "True");
  });

  it("continues to watch after an outage of the API server", async () => {
    const create = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "late", namespace: "default" } };
    const waiting = client.watchUntil<string>({
      what: "a ConfigMap",
      apiVersion: "v1",
      kind: "ConfigMap",
      namespace: "default",
      name: "late",
      seconds: 40,
      decide: ([found]) => (found ? { done: "there" } : { pending: "not there" }),
    });
    await pause(300);
    await api.stopApiServer();
    await pause(300);
    await api.startApiServer();
    await client.create(create);
    assert.equal(await waiting, "there");
  });
});
