import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type NodeRolloutStep, nodeRolloutSteps } from "../../providers/kubeadm/plan/steps";
import type { NodeRolloutInputs } from "../../providers/kubeadm/resources/declarations";
import { configurationDiff } from "../../providers/kubeadm/resources/configuration/configuration-diff";
import { memberState } from "../simulation/fleet-files";
import { SimulatedFleet } from "../simulation/simulated-fleet";
import { TestAuthority } from "../support/certificates";
import { kubeconfigOf, TestKubernetesServer } from "../support/kubernetes-server";
import { exampleMachine, exampleSpecification } from "../unit/providers/kubeadm/machine/examples";
import { common, drain, rollout } from "./handler-samples";

const NAMES = ["cp-1", "cp-2", "w-1"];
const SECRET = "hidden-from-everyone";

const encoded = (text: string) => Buffer.from(text).toString("base64");
const differs = (file: string, before: string, after: string) =>
  `${encoded(file)} =${encoded(before)} =${encoded(after)} - -`;

describe("the diff of a changed configuration in a preview", function () {
  this.timeout(60_000);
  const folder = mkdtempSync(path.join(tmpdir(), "foresail-diff-"));
  const authority = new TestAuthority(folder);
  const server = new TestKubernetesServer(authority.issue("server", "/CN=server", ["IP:127.0.0.1"]));
  let fleet: SimulatedFleet;

  before(async () => {
    await server.listen();
    const kubeconfigFile = path.join(folder, "admin.conf");
    writeFileSync(kubeconfigFile, kubeconfigOf(authority, [server]), { mode: 0o600 });
    fleet = await SimulatedFleet.start({ api: { kubeconfigFile, port: server.port }, machines: NAMES });
    for (const name of NAMES) {
      const policy = differs("/etc/policy", "level: None\n", "level: Request\n");
      const hidden = differs("/etc/hidden", `${SECRET} 1\n`, `${SECRET} 2\n`);
      const own = differs("/etc/own", `${name}\n`, `new\npassword: ${SECRET}\n`);
      fleet.files.saveState(name, {
        ...memberState("demo", name, name !== "w-1"),
        differences: name === "w-1" ? [policy] : [policy, hidden, own],
      });
    }
  });

  after(async () => {
    await fleet.stop();
    await server.close();
    rmSync(folder, { recursive: true });
  });

  const inputs = (over: object = {}): NodeRolloutInputs => ({
    ...common,
    __provider: "",
    specification: exampleSpecification(),
    machines: NAMES.map((name) => exampleMachine(name, fleet.machine(name))),
    credentials: { privateKey: fleet.privateKey },
    timeouts: { ssh: 3, dial: 1, prepare: 20, init: 1, join: 1, ready: 1 },
    kubeconfig: "",
    rollout,
    drain,
    secretFiles: ["/etc/hidden"],
    ...over,
  });
  const configure = (machine: string): NodeRolloutStep => ({
    kind: "configure",
    machine,
    from: "aaaaaa.bbbbbb",
    to: "cccccc.bbbbbb",
  });
  const configureKubelet = (machine: string): NodeRolloutStep => ({
    kind: "configure",
    machine,
    from: "aaaaaa.bbbbbb",
    to: "aaaaaa.dddddd",
  });
  const shown = async (over: object = {}, names = NAMES) => {
    const { lines } = await configurationDiff("NodeRollout demo", {}, inputs(over), names.map(configure));
    return lines.map((line) => nodeRolloutSteps.parse(line)!);
  };
  const textOf = (steps: readonly NodeRolloutStep[]) =>
    steps.flatMap((step) => (step.kind === "diff" ? [step.text.slice(1)] : []));

  it("shows equal changes once, and no secret", async () => {
    const steps = await shown();
    assert.deepEqual(textOf(steps), [
      ...["cp-1, cp-2, w-1:", "--- /etc/policy", "+++ /etc/policy", "@@ -1,1 +1,1 @@"],
      ...["-level: None", "+level: Request"],
      ...["cp-1, cp-2:", "--- /etc/hidden", "+++ /etc/hidden", "content differs (secret)"],
      ...["cp-1:", "--- /etc/own", "+++ /etc/own", "@@ -1,1 +1,2 @@", "-cp-1", "+new"],
      ...["+password: [secret]", "(values that look secret are not shown)"],
      ...["cp-2:", "--- /etc/own", "+++ /etc/own", "@@ -1,1 +1,2 @@", "-cp-2", "+new"],
      ...["+password: [secret]", "(values that look secret are not shown)"],
    ]);
    assert.ok(!JSON.stringify(steps).includes(SECRET));
    assert.deepEqual(
      steps.map((step) => (step.kind === "diff" ? step.at : 0)),
      steps.map((_, index) => index + 1),
    );
  });

  it("says once which programs do not start with the change, and on which machines", async () => {
    const refused = `refused kube-apiserver ${encoded('unknown flag: --x\u001b[2J\n"quoted"')}`;
    const before = NAMES.map((name) => [name, fleet.files.state(name)] as const);
    for (const [name, state] of before)
      fleet.files.saveState(name, { ...state, differences: [...(state.differences ?? []), refused] });
    const { lines, refusals } = await configurationDiff(
      "NodeRollout demo",
      {},
      inputs(),
      NAMES.map(configure),
    );
    for (const [name, state] of before) fleet.files.saveState(name, state);
    assert.ok(lines.length > 10);
    assert.deepEqual(refusals, [
      'on cp-1, cp-2, w-1, kube-apiserver does not start with the changed settings (unknown flag: --x "quoted"); nothing was changed: fix them, or take them back',
    ]);
  });

  it("reads nothing when no configuration step is listed, and only the machines that have one", async () => {
    const before = fleet.journal.length;
    assert.deepEqual(await shown({}, []), []);
    assert.equal(fleet.journal.length, before);
    await shown({}, ["w-1"]);
    assert.deepEqual(
      fleet.journal.slice(before).map(({ machine, operation }) => `${machine} ${operation}`),
      ["w-1 configuration-differences"],
    );
  });

  it("says in one line which machines can't be compared, and shows the others", async () => {
    fleet.powerOff("cp-2");
    const steps = await shown();
    fleet.powerOn("cp-2");
    assert.deepEqual(textOf(steps).slice(0, 2), ["cp-1, w-1:", "--- /etc/policy"]);
    const last = steps.at(-1);
    assert.ok(last?.kind === "noDiff");
    assert.equal(last.machines, "cp-2");
    assert.match(last.why, /could not be reached over SSH within 6 s/);
  });

  it("gives the machines of a cluster that others made its own configuration with the stack's settings", async () => {
    const put = (name: string, data: Record<string, string>) =>
      server.store.put(`/api/v1/namespaces/kube-system/configmaps/${name}`, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name, namespace: "kube-system" },
        data,
      });
    const state = fleet.files.state("cp-2");
    fleet.files.saveState("cp-2", { ...state, differences: [`${encoded("/given")} - ={data} - -`] });
    const theirs = { adopted: true, kubeconfig: kubeconfigOf(authority, [server]) };
    const specification = exampleSpecification({ kubelet: { maxPods: 90 } });
    const given = async () => {
      const steps = [configureKubelet("cp-2")];
      return (await configurationDiff("NodeRollout demo", {}, inputs({ ...theirs, specification }), steps))
        .lines;
    };
    assert.match((await given()).join(), /^no diff of cp-2: the cluster does not have kubeadm's ConfigMaps/);
    put("kubeadm-config", { ClusterConfiguration: "clusterName: theirs\n" });
    put("kubelet-config", { kubelet: "maxPods: 70\nkind: KubeletConfiguration\n" });
    const written = [{ path: ["maxPods"], before: 120 }];
    put("foresail-written-settings", { kubelet: JSON.stringify(written) });
    const lines = (await given()).join("\n");
    for (const line of ["+clusterName: theirs", "+maxPods: 90", "+  name: cp-2"])
      assert.ok(lines.includes(line), lines);
    server.intercept = (call) =>
      call.endsWith("kubelet-config") ? { status: 403, reason: "Forbidden" } : undefined;
    assert.match((await given()).join(), /^no diff of cp-2: kubeadm's ConfigMaps could not be read: /);
    server.intercept = () => undefined;
    fleet.files.saveState("cp-2", state);
  });

  it("says that the diff of a node with another version leaves out what the new kubeadm writes", async () => {
    const steps: NodeRolloutStep[] = [
      {
        ...{ kind: "upgrade", machine: "w-1", from: "1.35.4", to: "1.36.3", how: "kubeadm upgrade node" },
        software: [{ name: "configuration", from: "aaaaaa.bbbbbb", to: "cccccc.dddddd" }],
      },
    ];
    const { lines } = await configurationDiff("NodeRollout demo", {}, inputs(), steps);
    assert.equal(
      lines.at(-1),
      "the diff of w-1 leaves out the static pods and the kubelet's configuration, which kubeadm 1.36.3 writes after it is installed",
    );
    const [head] = textOf(lines.map((line) => nodeRolloutSteps.parse(line)!));
    assert.equal(head, "w-1:");
    fleet.powerOff("w-1");
    const { lines: unread } = await configurationDiff("NodeRollout demo", {}, inputs(), steps);
    fleet.powerOn("w-1");
    assert.equal(unread.length, 1);
    assert.match(unread[0] ?? "", /^no diff of w-1: /);
  });

  it("says the same once for all machines when there is nothing to log in with", async () => {
    const agent = process.env["SSH_AUTH_SOCK"];
    delete process.env["SSH_AUTH_SOCK"];
    const steps = await shown({ credentials: {} }, ["cp-1", "w-1"]).finally(() => {
      if (agent !== undefined) process.env["SSH_AUTH_SOCK"] = agent;
    });
    assert.deepEqual(
      steps.map(({ kind }) => kind),
      ["noDiff"],
    );
    assert.ok(steps[0]?.kind === "noDiff" && steps[0].machines === "cp-1, w-1", JSON.stringify(steps));
  });
});
