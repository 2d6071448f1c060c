import assert from "node:assert/strict";
import { parse, stringify } from "yaml";
import {
  ADOPTED,
  administratorsPlane,
  KUBE_PROXY,
  KUBELET,
  MADE_WITH,
  makeAdministratorsCluster,
} from "./administrators-cluster";
import { killedDuring } from "./killed-up";
import { desiredCluster } from "./desired-cluster";
import { simulatedFixture } from "./simulated-fixture";

const UP = ["up", "--yes", "--skip-preview"];

describe("another configuration of an adopted cluster under the engine", () => {
  const fixture = simulatedFixture({ machines: ["cp-1", "w-1"] });
  const want = (others: Record<string, unknown> = {}) =>
    fixture.stack.configure({
      cluster: desiredCluster(fixture.fleet, [administratorsPlane(fixture), "w-1"], {
        ...ADOPTED,
        ...others,
      }),
    });

  before(async () => {
    await makeAdministratorsCluster(fixture);
    want();
    await fixture.stack.up();
  });

  const dataOf = async (name: string) => {
    const reference = { apiVersion: "v1", kind: "ConfigMap", namespace: "kube-system", name };
    return (await fixture.kubernetes.get<{ data?: Record<string, string> }>(reference))?.data ?? {};
  };
  const stored = async (name: string, key: string) =>
    parse((await dataOf(name))[key] ?? "null") as Record<string, unknown>;
  const audited = {
    kubeadm: {
      clusterConfiguration: {
        apiServer: {
          extraArgs: [
            { name: "profiling", value: "false" },
            { name: "audit-log-path", value: "/var/log/audit.log" },
          ],
        },
      },
    },
    kubelet: { maxPods: 90, podPidsLimit: 1000 },
  };

  it("refuses another configuration when a machine has settings that kubeadm's ConfigMaps don't have", async () => {
    const { files } = fixture.fleet;
    const { settings, ...state } = files.state("w-1");
    files.saveState("w-1", { ...state, settings: { kubelet: stringify({ ...KUBELET, maxPods: 7 }) } });
    want(audited);
    for (const command of [["preview"], ["up", "--yes", "--skip-preview"]]) {
      const { exitCode, stdout, stderr } = await fixture.stack.call(command);
      assert.notEqual(exitCode, 0);
      assert.match(stdout + stderr, /w-1: its \/var\/lib\/kubelet\/config\.yaml .*\(maxPods\)/);
    }
    assert.deepEqual(await stored("kubelet-config", "kubelet"), KUBELET);
    files.saveState("w-1", { ...state, settings });
  });

  it("merges another configuration into kubeadm's ConfigMaps, and rolls it out", async () => {
    const preview = await fixture.stack.preview();
    const steps = (name: string) =>
      (preview.find((each) => each.name === name)?.inputs.steps ?? []) as string[];
    assert.match(
      steps("test-init").join("\n"),
      /^configuration: cluster\.kube.*\ncluster: write kubeadm-config and kubelet-config$/,
    );
    assert.deepEqual(
      steps("test-rollout")
        .filter((line) => line.includes(": configuration "))
        .map((line) => line.split(":")[0]),
      ["w-1", "cp-1"],
    );
    // the simulated machines have no node agents that follow annotations
    await fixture.stack.call(["up", "--yes", "--skip-preview", "--target", "**test-init"]);
    const { networking, ...cluster } = await stored("kubeadm-config", "ClusterConfiguration");
    assert.ok(networking);
    const { apiServer } = audited.kubeadm.clusterConfiguration;
    assert.deepEqual(cluster, { ...MADE_WITH, apiServer });
    assert.deepEqual(await stored("kubelet-config", "kubelet"), { ...KUBELET, ...audited.kubelet });
  });

  it("gives the administrator's values back when the settings go away", async () => {
    want();
    await fixture.stack.call(["up", "--yes", "--skip-preview", "--target", "**test-init"]);
    const { networking: _, ...cluster } = await stored("kubeadm-config", "ClusterConfiguration");
    assert.deepEqual(cluster, MADE_WITH);
    assert.deepEqual(await stored("kubelet-config", "kubelet"), KUBELET);
  });

  it("merges settings of kube-proxy and restarts it, again after a run that ended in between, and gives the original back", async () => {
    const restarts = () =>
      fixture.fleet.journal
        .filter(({ operation }) => operation === "restart-kube-proxy")
        .map((line) => ("outcome" in line ? line.outcome : ""));
    const { files } = fixture.fleet;
    const { settings, ...state } = files.state("w-1");
    // of another kubelet only, which kube-proxy does not concern
    files.saveState("w-1", { ...state, settings: { kubeletPath: "/etc/kubernetes/kubelet-config.yaml" } });
    want({ kubeProxy: { mode: "nftables", nodePortAddresses: ["primary"] } });
    const preview = await fixture.stack.preview();
    const stepsOf = (name: string) => preview.find((each) => each.name === name)?.inputs.steps;
    assert.deepEqual(stepsOf("test-init"), [
      "configuration: cluster.kubeProxy.mode, cluster.kubeProxy.nodePortAddresses; each node gets it from its rollout",
      "cluster: write the configuration of kube-proxy, and restart it on each node in turn",
    ]);
    fixture.fleet.inject({
      operation: "restart-kube-proxy",
      machine: "cp-1",
      kind: "fail",
      stderr: "cut off",
    });
    const up = () => fixture.stack.call(["up", "--yes", "--skip-preview", "--target", "**test-init"]);
    const merged = { ...KUBE_PROXY, mode: "nftables", nodePortAddresses: ["primary"] };
    assert.notEqual((await up()).exitCode, 0);
    assert.deepEqual(await stored("kube-proxy", "config.conf"), merged);
    assert.equal((await up()).exitCode, 0);
    assert.deepEqual(await stored("kube-proxy", "config.conf"), merged);
    assert.equal((await dataOf("kube-proxy"))["kubeconfig.conf"], "theirs");
    assert.deepEqual(restarts(), ["failed", "done"]);

    want();
    assert.equal((await up()).exitCode, 0);
    assert.deepEqual(await stored("kube-proxy", "config.conf"), KUBE_PROXY);
    assert.deepEqual(restarts(), ["failed", "done", "done"]);
    files.saveState("w-1", { ...state, settings });
  });

  it("takes back what a killed run merged, in a step of the preview, when the old values come back", async () => {
    const restarts = () =>
      fixture.fleet.journal.filter(({ operation }) => operation === "restart-kube-proxy").length;
    want({ ...audited, kubeProxy: { mode: "nftables" } });
    await killedDuring(fixture, { operation: "restart-kube-proxy", machine: "cp-1" });
    assert.deepEqual(await stored("kubelet-config", "kubelet"), { ...KUBELET, ...audited.kubelet });
    assert.deepEqual(await stored("kube-proxy", "config.conf"), { ...KUBE_PROXY, mode: "nftables" });

    want();
    const takenBack = async () =>
      (await fixture.stack.preview()).flatMap(({ name, inputs }) =>
        name === "test-reader"
          ? ((inputs.steps ?? []) as string[]).filter((line) => line.includes("interrupted"))
          : [],
      );
    assert.deepEqual(await takenBack(), [
      "cluster: write kubeadm-config and kubelet-config again, since an interrupted run left other settings there",
      "cluster: write the configuration of kube-proxy again, and restart it on each node in turn, since an interrupted run left other settings there",
    ]);
    const before = restarts();
    const targets = ["--target", "**test-init", "--target", "**test-reader"];
    assert.equal((await fixture.stack.call([...UP, ...targets])).exitCode, 0);
    const { networking: _, ...cluster } = await stored("kubeadm-config", "ClusterConfiguration");
    assert.deepEqual(cluster, MADE_WITH);
    assert.deepEqual(await stored("kubelet-config", "kubelet"), KUBELET);
    assert.deepEqual(await stored("kube-proxy", "config.conf"), KUBE_PROXY);
    assert.equal(restarts(), before + 1);
    assert.deepEqual(await takenBack(), []);
  });

  it("refuses an endpoint that a machine does not reach, and moves the cluster's own objects and nodes to another", async () => {
    const { files } = fixture.fleet;
    const state = files.state("w-1");
    files.saveState("w-1", { ...state, endpoint: { unreached: "curl: (7) refused" } });
    want({ endpoint: { external: { host: "lb.example.org", port: 6443 } } });
    for (const command of [["preview"], ["up", "--yes", "--skip-preview"]]) {
      const { exitCode, stdout, stderr } = await fixture.stack.call(command);
      assert.notEqual(exitCode, 0);
      assert.match(stdout + stderr, /w-1 does not reach the API servers .* at lb\.example\.org:6443 \(curl/);
    }
    const operations = () => fixture.fleet.journal.map(({ machine, operation }) => `${machine} ${operation}`);
    assert.ok(!operations().includes("cp-1 move-endpoint"));
    files.saveState("w-1", state);

    const preview = await fixture.stack.preview();
    const stepsOf = (name: string) =>
      (preview.find((each) => each.name === name)?.inputs.steps ?? []) as string[];
    assert.deepEqual(stepsOf("test-init"), [
      "configuration: cluster.endpoint.external.host; each node gets it from its rollout",
      "cluster: write the endpoint lb.example.org:6443 into kubeadm-config, cluster-info and the configuration of kube-proxy, and restart kube-proxy on each node in turn",
    ]);
    const moving = stepsOf("test-rollout").filter((line) => line.includes("connect to the new endpoint"));
    assert.deepEqual(
      moving.map((line) => line.split(":")[0]),
      ["w-1", "cp-1"],
    );
    await fixture.stack.call(["up", "--yes", "--skip-preview", "--target", "**test-init"]);
    assert.ok(operations().includes("cp-1 move-endpoint"));
  });

  it("merges a profile and issuers of tokens, and gives the administrator's values back without them", async () => {
    const issuer = { url: "https://login.example.com", audiences: ["kubernetes"] };
    const claimMappings = { username: { claim: "sub", prefix: "oidc:" } };
    want({ profile: "cis", authentication: { oidc: [{ issuer, claimMappings }] } });
    await fixture.stack.call(["up", "--yes", "--skip-preview", "--target", "**test-init"]);
    const { networking: _, ...hardened } = await stored("kubeadm-config", "ClusterConfiguration");
    const { extraArgs } = hardened["apiServer"] as { extraArgs: { name: string; value: string }[] };
    const values = Object.fromEntries(extraArgs.map(({ name, value }) => [name, value]));
    assert.equal(values["profiling"], "false");
    assert.match(values["authentication-config"] ?? "", /^\/etc\/kubernetes\/authentication\//);
    const kubelet = await stored("kubelet-config", "kubelet");
    assert.deepEqual([kubelet["maxPods"], kubelet["protectKernelDefaults"]], [KUBELET.maxPods, true]);

    want();
    await fixture.stack.call(["up", "--yes", "--skip-preview", "--target", "**test-init"]);
    const { networking: _own, ...cluster } = await stored("kubeadm-config", "ClusterConfiguration");
    assert.deepEqual(cluster, MADE_WITH);
    assert.deepEqual(await stored("kubelet-config", "kubelet"), KUBELET);
  });
});
