import assert from "node:assert/strict";
import type { Node } from "../../lib/kubernetes";
import { annotationKeys } from "../../providers/kubeadm/plan/rollout/annotations";
import { AUDITED } from "./audit-log";
import { etcdAt } from "./etcd";
import type { TestCluster } from "./test-cluster";

const KEYS = annotationKeys();
export const CONFIGURATION_KEY = KEYS.desired("configuration");
const LIMITS = { path: "/etc/example/limits.conf", content: "open-files=1024", mode: "0640" };
const MAX_PODS = 93;
const API_NAME = "api.example.org";
const ETCD_ARGUMENT = { name: "quota-backend-bytes", value: "3221225472" };

/**
 * Returns the audited cluster's fields with another audit policy, an argument of the API servers and of etcd, a name for
 * the API servers' certificates, a file on every machine, and a setting of the kubelet, for which every node is drained.
 */
export function reconfigured(fields: Record<string, unknown>, kubelet: Record<string, unknown>) {
  const { apiServer } = AUDITED.kubeadm.clusterConfiguration;
  const extraArgs = [...apiServer.extraArgs, { name: "profiling", value: "false" }];
  const [policy] = AUDITED.files;
  return {
    ...fields,
    kubeadm: {
      clusterConfiguration: {
        apiServer: { ...apiServer, extraArgs, certSANs: [API_NAME] },
        etcd: { local: { extraArgs: [ETCD_ARGUMENT] } },
      },
    },
    files: [{ path: policy?.path, content: `${policy?.content}# changed\n` }, LIMITS],
    kubelet: { ...kubelet, maxPods: MAX_PODS },
  };
}

/**
 * Returns the lines that a preview lists for such a change, in their order: control planes last.
 * @param drained whether the kubelet's settings change
 * @param further what else changes on control planes
 */
export function expectedSteps(
  machines: readonly string[],
  {
    drained = false,
    further = [],
  }: { drained?: boolean; further?: readonly ("etcd" | "certificate")[] } = {},
): RegExp[] {
  const works = { etcd: "restart etcd", certificate: "give the API server a certificate with the new names" };
  const others = further.map((each) => `, ${works[each]}`).join("");
  const drains = drained ? ["cordon, drain, ", ", uncordon"] : ["", ""];
  const isControlPlane = (name: string) => name.startsWith("cp");
  const inOrder = [...machines.filter((name) => !isControlPlane(name)), ...machines.filter(isControlPlane)];
  return inOrder.map((name) => {
    const pods = isControlPlane(name) ? `${others}, restart the static pods that change` : "";
    const work = `${drains[0]}apply its files${pods}, restart the kubelet${drains[1]}`;
    return new RegExp(`^${name}: configuration [0-9a-f.]+ → [0-9a-f.]+ \\(${work}\\)$`);
  });
}

/** Checks on the machines that the change is exactly there: files, running processes, and what the Nodes report. */
export async function assertReconfigured(
  cluster: TestCluster,
  machines: readonly string[],
  nodes: readonly Node[],
): Promise<void> {
  const [policy] = AUDITED.files;
  for (const name of machines) {
    const file = await cluster.onMachine(name, `stat -c %a ${LIMITS.path}; cat ${LIMITS.path}`);
    assert.equal(file, `640\n${LIMITS.content}\n`, name);
    const node = nodes.find(({ metadata }) => metadata?.name === name);
    const annotations = node?.metadata?.annotations ?? {};
    assert.equal(annotations[KEYS.current("configuration")], annotations[CONFIGURATION_KEY], name);
    assert.equal(annotations[KEYS.changesAllowed], "false", name);
    assert.equal(node?.spec?.unschedulable, undefined, name);
    assert.match(await cluster.onMachine(name, "cat /var/lib/kubelet/config.yaml"), /^maxPods: 93$/m, name);
    assert.equal(node?.status?.allocatable?.["pods"], String(MAX_PODS), name);
    if (!name.startsWith("cp")) continue;
    assert.equal(await cluster.onMachine(name, `cat ${policy?.path}`), `${policy?.content}# changed\n`);
    const running = await cluster.onMachine(name, "tr '\\0' ' ' </proc/$(pidof kube-apiserver)/cmdline");
    assert.match(running, / --profiling=false /, name);
    assert.match(running, / --audit-policy-file=/, name);
    const member = await cluster.onMachine(name, "tr '\\0' ' ' </proc/$(pidof etcd)/cmdline");
    assert.ok(member.includes(` --${ETCD_ARGUMENT.name}=${ETCD_ARGUMENT.value} `), `${name}: ${member}`);
    const controlPlanes = machines.filter((machine) => machine.startsWith("cp"));
    assert.deepEqual(await etcdAt(cluster, name), { members: controlPlanes, healthy: true });
    const verified = `--cacert /etc/kubernetes/pki/ca.crt --resolve ${API_NAME}:6443:127.0.0.1`;
    const ask = `curl --silent --show-error --fail ${verified} https://${API_NAME}:6443/readyz`;
    assert.equal(await cluster.onMachine(name, ask), "ok", name);
    const since = "stat -c %Y /proc/$(pidof kube-apiserver)";
    const written = `stat -c %Y ${policy?.path}`;
    const [started, changed] = (await cluster.onMachine(name, `${since}; ${written}`)).trim().split("\n");
    assert.ok(Number(started) >= Number(changed), `${name}: its API server has not read the policy`);
  }
}
