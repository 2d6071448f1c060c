import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { KubernetesClient } from "../../lib/kubernetes";
import { annotationKeys } from "../../providers/kubeadm/plan/rollout/annotations";
import { BareApiServer } from "../simulation/bare-api-server";
import { AgentMachine } from "../unit/providers/kubeadm/node-agent/agent-machine";
import { apiPrograms, engineToolchain, SET_UP_MILLISECONDS } from "./simulated-fixture";

const KEYS = annotationKeys();
const NODE = { apiVersion: "v1", kind: "Node", name: "w-1" };
/** Who may read kubeadm-config, as kubeadm grants it. */
const GRANT = { name: "kubeadm:nodes-kubeadm-config", namespace: "kube-system" };
const RBAC = "rbac.authorization.k8s.io";

describe("the node agent with a kubelet's own credentials", function () {
  this.timeout(60_000);
  let api: BareApiServer;
  let kubernetes: KubernetesClient;
  let machine: AgentMachine;
  let child: ChildProcess | undefined;

  before(async function () {
    this.timeout(SET_UP_MILLISECONDS);
    const toolchain = await engineToolchain();
    const { etcd, kubeApiserver } = apiPrograms(toolchain);
    api = await new BareApiServer({ programs: { etcd, kubeApiserver } }).start();
    kubernetes = await KubernetesClient.connect({ kubeconfig: api.kubeconfig() }, { seconds: 10 });
    for (const name of ["w-1", "w-2"])
      await kubernetes.create({ apiVersion: "v1", kind: "Node", metadata: { name } });
    await kubernetes.create({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "kubeadm-config", namespace: "kube-system" },
      data: { ClusterConfiguration: "kind: ClusterConfiguration\nkubernetesVersion: v1.36.3\n" },
    });
    await kubernetes.create({
      apiVersion: `${RBAC}/v1`,
      kind: "Role",
      metadata: GRANT,
      rules: [
        { apiGroups: [""], resources: ["configmaps"], resourceNames: ["kubeadm-config"], verbs: ["get"] },
      ],
    });
    await kubernetes.create({
      apiVersion: `${RBAC}/v1`,
      kind: "RoleBinding",
      metadata: GRANT,
      roleRef: { apiGroup: RBAC, kind: "Role", name: GRANT.name },
      subjects: [{ apiGroup: RBAC, kind: "Group", name: "system:nodes" }],
    });
    machine = new AgentMachine();
    machine.useReal("kubectl", toolchain.kubernetes("1.36.3").kubectl);
    machine.put("/etc/kubernetes/kubelet.conf", api.kubeletKubeconfig("w-1"));
  });

  after(async () => {
    if (child?.exitCode === null) process.kill(-child.pid!, "SIGKILL");
    machine?.remove();
    kubernetes?.close();
    await api?.stop();
  });

  const annotations = async () =>
    (await kubernetes.get<{ metadata: { annotations?: Record<string, string> } }>(NODE))?.metadata
      .annotations ?? {};
  const until = async (key: string, isMet: (value: string | undefined) => boolean) => {
    for (let left = 200; !isMet((await annotations())[key]); left -= 1) {
      assert.ok(left > 0, `${key}: ${JSON.stringify(await annotations())}\n${machine.log}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  const is = (wanted?: string) => (value?: string) => value === wanted;

  it("reports on a Node that has no annotations yet", async () => {
    child = machine.start();
    await until(KEYS.ready, is("true"));
    assert.equal((await annotations())[KEYS.current("kubelet")], "v1.35.4");
  });

  it("sees the desired version through its watch, and reads the cluster's version as every node may", async () => {
    const desired = Object.fromEntries(
      ["kubelet", "kubeadm", "kubectl"].map((name) => [KEYS.desired(name), "v1.36.3"]),
    );
    const noise = { "example.org/json": '{"a":"b\\nalpha.node.caos.ch/ready \\"false\\""}' };
    await kubernetes.mergePatch(NODE, {
      metadata: { annotations: { ...desired, ...noise, [KEYS.changesAllowed]: "true" } },
    });
    await until(KEYS.current("kubelet"), is("v1.36.3"));
    await until(KEYS.ready, is("true"));
    assert.equal(machine.versions.running, "1.36.3");
    assert.equal((await annotations())["example.org/json"], noise["example.org/json"]);
  });

  it("continues after an outage of the API server, and removes its error when the desired version is fixed", async () => {
    await api.stopApiServer();
    await api.startApiServer();
    await kubernetes.mergePatch(NODE, {
      metadata: { annotations: { [KEYS.desired("containerd")]: "9.9.9" } },
    });
    await until(KEYS.message, (value) => value !== undefined);
    assert.match((await annotations())[KEYS.message] ?? "", /containerd 9\.9\.9 is not staged/);
    await kubernetes.mergePatch(NODE, { metadata: { annotations: { [KEYS.desired("containerd")]: null } } });
    await until(KEYS.message, is(undefined));
  });

  it("can't write to another Node, whatever its annotations say", async () => {
    const other = new AgentMachine();
    try {
      other.useReal("kubectl", (await engineToolchain()).kubernetes("1.36.3").kubectl);
      other.put("/etc/kubernetes/kubelet.conf", api.kubeletKubeconfig("w-2"));
      // it runs as w-1
      const { status, output } = other.run("--once");
      assert.equal(status, 75, output);
      assert.match(output, /forbidden/i);
    } finally {
      other.remove();
    }
  });
});
