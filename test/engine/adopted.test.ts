import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parse, stringify } from "yaml";
import { adopt } from "../../cli/commands/adopt";
import { AGENT_VERSION } from "../../providers/kubeadm/machine/node-agent";
import { ADOPTED, administratorsPlane, KUBELET, makeAdministratorsCluster } from "./administrators-cluster";
import { desiredCluster, type DesiredMachine } from "./desired-cluster";
import { FleetCommand } from "./fleet-command";
import { observedCluster } from "./observed-cluster";
import { simulatedFixture } from "./simulated-fixture";
import { CLUSTER_OWNER } from "../../providers/kubeadm/plan/facts/owner-record";
import { clusterInitSteps, nodeRolloutSteps } from "../../providers/kubeadm/plan/steps";
import { stepsOfKind, withoutPreparation } from "../support/steps";

const READS = ["machine-facts", "adoption-facts", "adoption-access"];
const ADOPTIONS = [
  "cp-1: adopt as control plane of the cluster at 10.90.1.1:6443, Kubernetes 1.36.3",
  "w-1: adopt as worker of the cluster at 10.90.1.1:6443, Kubernetes 1.36.3",
];
describe("the adoption of a cluster under the engine", () => {
  const fixture = simulatedFixture({ machines: ["cp-1", "w-1", "w-2"] });
  const want = (machines: (string | DesiredMachine)[], others: Record<string, unknown> = {}) =>
    fixture.stack.configure({
      cluster: desiredCluster(fixture.fleet, machines, { ...ADOPTED, ...others }),
    });
  const plane = () => administratorsPlane(fixture);
  const operations = () => [...new Set(fixture.fleet.journal.map(({ operation }) => operation))];
  const since = (count: number) => [
    ...new Set(fixture.fleet.journal.slice(count).map(({ operation }) => operation)),
  ];

  before(() => makeAdministratorsCluster(fixture));

  it("is described by `foresail adopt`, which writes the stack file and changes nothing", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "foresail-adopt-"));
    const key = path.join(folder, "key");
    writeFileSync(key, fixture.fleet.privateKey, { mode: 0o600 });
    const write = path.join(folder, "Pulumi.adopted.yaml");
    writeFileSync(write, "encryptionsalt: v1:salt\n");
    const at = (name: string) => `${name}=127.0.0.1:${fixture.fleet.machine(name).port}`;
    const lines: string[] = [];
    const run = (address: string[]) =>
      adopt({ kubeconfig: fixture.api.kubeconfigFile, ssh: "root", key, address, write }, (line) =>
        lines.push(line),
      );
    assert.equal(await run([at("cp-1"), at("w-1")]), 0, lines.join("\n"));
    const file = parse(readFileSync(write, "utf8")) as {
      encryptionsalt: string;
      config: Record<string, unknown>;
    };
    assert.equal(file.encryptionsalt, "v1:salt");
    const { cluster } = { cluster: file.config["foresail:cluster"] as Record<string, unknown> };
    const { hostKey, port } = fixture.fleet.machine("w-1");
    const machines = cluster.machines as object[];
    assert.deepEqual(machines[1], {
      name: "w-1",
      role: "worker",
      address: "127.0.0.1",
      port,
      hostKey,
      internalAddress: "10.90.2.1",
    });
    assert.ok(lines.some((line) => line.includes("controlPlaneEndpoint: the cluster has none")));
    // the file is a stack of this program
    fixture.stack.configure({ cluster: { ...cluster, name: "test" } });
    const preview = await fixture.stack.preview();
    assert.deepEqual(preview.find(({ name }) => name === "test-init")?.inputs.steps, ADOPTIONS);
    await assert.rejects(run([at("cp-1"), at("w-1")]), /has foresail:cluster already/);
    assert.deepEqual(
      operations().filter((operation) => ![...READS, "rewritten-settings"].includes(operation)),
      [],
    );
    rmSync(folder, { recursive: true });
  });

  it("writes nothing anywhere when one machine is not a member, or a setting differs", async () => {
    want([plane(), "w-1", "w-2"]);
    const first = await fixture.stack.call(["up", "--yes", "--skip-preview"]);
    assert.notEqual(first.exitCode, 0);
    assert.match(
      first.stdout + first.stderr,
      /cluster\.machines\[2\].*w-2: is not a member of a kubeadm cluster/,
    );
    want([plane(), "w-1"], { network: { podSubnet: "10.70.0.0/16", plugin: { none: {} } } });
    const second = await fixture.stack.call(["up", "--yes", "--skip-preview"]);
    assert.notEqual(second.exitCode, 0);
    assert.match(second.stdout + second.stderr, /cluster\.network\.podSubnet.*10\.244\.0\.0\/16/);
    assert.deepEqual(
      operations().filter((operation) => ![...READS, "rewritten-settings"].includes(operation)),
      [],
    );
    assert.equal(fixture.fleet.state("cp-1").marker, undefined);
  });

  it("previews each machine's adoption and each label, and only reads for that", async () => {
    want([plane(), "w-1"]);
    const before = fixture.fleet.journal.length;
    const preview = await fixture.stack.preview();
    const steps = Object.fromEntries(
      preview.flatMap(({ name, inputs }) => {
        const lines = (inputs.steps ?? []) as string[];
        return lines.length > 0 ? [[name, lines]] : [];
      }),
    );
    delete steps["test-reader"];
    assert.deepEqual(steps, {
      "test-init": ADOPTIONS,
      "test-control-plane": ["cp-1: label foresail/group=control-plane"],
      "test-workers": ["w-1: label node-role.kubernetes.io/workers=, label foresail/group=workers"],
      "test-node-agents": ["cp-1", "w-1"].flatMap((machine) => [
        `${machine}: install node agent ${AGENT_VERSION}`,
        `${machine}: stage 1.36.3`,
      ]),
    });
    assert.deepEqual(since(before), READS);
  });

  it("previews what brings an older Node to the cluster's version, in the middle of an upgrade", async () => {
    const run = (version: string) =>
      fixture.kubernetes.mergePatch(
        { apiVersion: "v1", kind: "Node", name: "w-1" },
        { status: { nodeInfo: { kubeletVersion: version } } },
        { subresource: "status" },
      );
    await run("v1.35.4");
    const preview = await fixture.stack.preview();
    await run("v1.36.3");
    const stepsOf = (resource: string) =>
      preview.find(({ name }) => name === resource)?.inputs.steps as string[];
    const steps = stepsOf("test-rollout");
    const [upgrade] = stepsOfKind(nodeRolloutSteps, "upgrade", steps);
    assert.deepEqual([upgrade?.machine, upgrade?.from, upgrade?.to], ["w-1", "1.35.4", "1.36.3"]);
    assert.equal(steps.length, 1);
    const [, adoption] = stepsOfKind(clusterInitSteps, "adopt", stepsOf("test-init"));
    assert.deepEqual([adoption?.machine, adoption?.role, adoption?.version], ["w-1", "worker", "1.35.4"]);
  });

  it("names each setting of others that such a rollout takes away, and no value, in the preview", async () => {
    const { files } = fixture.fleet;
    const pod = (...flags: string[]) =>
      stringify({
        spec: { containers: [{ name: "kube-apiserver", command: ["kube-apiserver", ...flags] }] },
      });
    const rewritten = (name: string, current: string, rendered: string) => ({
      [`current/${name}`]: current,
      "0/kubelet": stringify(KUBELET),
      [`0/${name}`]: rendered,
    });
    const give = (name: string, texts: Record<string, string>) =>
      files.saveState(name, { ...files.state(name), rewritten: texts });
    give("cp-1", {
      ...rewritten("kube-apiserver", pod("--oidc-client-id=s3cret"), pod()),
      ...rewritten("deployment/coredns", '{"spec":{"minReadySeconds":5}}', '{"spec":{}}'),
    });
    give("w-1", rewritten("kubelet", stringify({ ...KUBELET, maxPods: 250 }), stringify(KUBELET)));
    const run = (name: string, version: string) =>
      fixture.kubernetes.mergePatch(
        { apiVersion: "v1", kind: "Node", name },
        { status: { nodeInfo: { kubeletVersion: version } } },
        { subresource: "status" },
      );
    const lost = {
      "cp-1": "cp-1: loses --oidc-client-id, since kubeadm writes the static pod kube-apiserver again",
      cluster: "the cluster loses spec.minReadySeconds, since kubeadm writes the Deployment coredns again",
      "w-1": "w-1: loses maxPods, since kubeadm writes /var/lib/kubelet/config.yaml again",
    };
    const said = async () => {
      const { exitCode, stdout, stderr } = await fixture.stack.call(["preview"]);
      assert.equal(exitCode, 0, stdout + stderr);
      assert.doesNotMatch(stdout + stderr, /s3cret/);
      return Object.values(lost).filter((line) => (stdout + stderr).includes(line));
    };
    assert.deepEqual(await said(), []);
    await run("w-1", "v1.35.4");
    assert.deepEqual(await said(), [lost["w-1"]]);
    await run("cp-1", "v1.35.4");
    assert.deepEqual(await said(), Object.values(lost));
    for (const name of ["cp-1", "w-1"]) {
      await run(name, "v1.36.3");
      const { rewritten: _, ...state } = files.state(name);
      files.saveState(name, state);
    }
  });

  it("refuses certificates in another folder and another port of the API server in the preview", async () => {
    const reference = {
      apiVersion: "v1",
      kind: "ConfigMap",
      namespace: "kube-system",
      name: "kubeadm-config",
    };
    const { data = {} } = (await fixture.kubernetes.get<{ data?: Record<string, string> }>(reference)) ?? {};
    const text = data["ClusterConfiguration"] ?? "";
    const refused = async (words: RegExp) => {
      const { exitCode, stdout, stderr } = await fixture.stack.call(["preview"]);
      assert.notEqual(exitCode, 0);
      assert.match(stdout + stderr, words);
    };
    await fixture.kubernetes.mergePatch(reference, {
      data: { ClusterConfiguration: `${text}certificatesDir: /etc/kubernetes/ssl\n` },
    });
    await refused(/cluster\.adopt: .*certificatesDir: "\/etc\/kubernetes\/ssl"/);
    // any form of YAML is read
    const json = JSON.stringify({ ...(parse(text) as object), certificatesDir: "/etc/kubernetes/pki" });
    await fixture.kubernetes.mergePatch(reference, { data: { ClusterConfiguration: json } });
    const { files } = fixture.fleet;
    files.saveState("cp-1", { ...files.state("cp-1"), apiServerPort: "7443" });
    await refused(/cluster\.machines\[0\]: cp-1: its API server listens at port 7443/);
    const { apiServerPort: _, ...state } = files.state("cp-1");
    files.saveState("cp-1", state);
    assert.equal((await fixture.stack.call(["preview"])).exitCode, 0);
    await fixture.kubernetes.mergePatch(reference, { data: { ClusterConfiguration: text } });
  });

  it("adopts without init, join or preparation, and a second up changes nothing", async () => {
    const before = fixture.fleet.journal.length;
    await fixture.stack.up();
    const changing = fixture.fleet.journal
      .slice(before)
      .filter(({ outcome }) => outcome === "done")
      .map(({ operation, machine }) => `${machine}: ${operation}`)
      .filter((entry) => !READS.some((read) => entry.endsWith(read)) && !entry.endsWith("admin-kubeconfig"));
    assert.deepEqual(changing.sort(), ["cp-1: adopt", "cp-1: node-agent", "w-1: adopt", "w-1: node-agent"]);
    assert.deepEqual(await observedCluster(fixture.kubernetes), {
      "cp-1": { group: "control-plane", ready: true },
      "w-1": { group: "workers", ready: true },
    });
    assert.deepEqual(Object.keys(await fixture.stack.up()), ["unchanged"]);
  });

  it("refuses a change of `adopt`, which decides what a destroy does", async () => {
    want([plane(), "w-1"], {
      adopt: false,
      encryptSecretsAtRest: true,
      network: { plugin: { bridge: {} } },
    });
    const { exitCode, stdout, stderr } = await fixture.stack.call(["preview"]);
    assert.notEqual(exitCode, 0);
    assert.match(stdout + stderr, /put `adopt: true` back/);
    want([plane(), "w-1"]);
  });

  it("joins a machine that is added later as on any cluster", async () => {
    want([plane(), "w-1", "w-2"]);
    const preview = await fixture.stack.preview();
    const { steps } = preview.find(({ name }) => name === "test-workers")!.inputs;
    assert.deepEqual(withoutPreparation(steps), [
      "w-2: join as worker of workers, wait until Ready",
      "cluster DNS: move its pods apart if all of them are on one node",
    ]);
    await fixture.stack.up();
    assert.deepEqual(Object.keys(await fixture.stack.up()), ["unchanged"]);
  });

  it("is released by `foresail release`: no reset, and nothing of foresail is left in the cluster", async () => {
    const before = fixture.fleet.journal.length;
    const { exitCode, stdout, stderr } = await new FleetCommand(fixture.stack).run(
      ...["release", "--stack", "test", "--yes"],
    );
    assert.equal(exitCode, 0, stdout + stderr);
    assert.match(stdout, /^ {2}w-1: remove the node agent and foresail's marks; Kubernetes stays as it is$/m);
    assert.match(stdout, /^ {2}w-2: .*; what foresail prepared it with stays/m);
    assert.match(stdout, /releases the cluster, which keeps running/);
    assert.deepEqual(since(before), ["machine-facts", "adoption-access", "release"]);
    for (const { metadata } of await fixture.kubernetes.listNodes()) {
      const keys = [...Object.keys(metadata?.labels ?? {}), ...Object.keys(metadata?.annotations ?? {})];
      assert.deepEqual(
        keys.filter((key) => /foresail|caos/.test(key)),
        [],
        metadata?.name,
      );
    }
    const kubernetes = (await fixture.kubernetes.getNode("w-1"))?.metadata?.labels;
    assert.equal(kubernetes?.["disk"], "ssd");
    const policy = {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingAdmissionPolicy",
      name: "foresail-node-annotations",
    };
    assert.equal(await fixture.kubernetes.get(policy), undefined);
    assert.equal(await fixture.kubernetes.get(CLUSTER_OWNER), undefined);
    assert.equal(fixture.fleet.state("w-1").marker, undefined);
  });
});
