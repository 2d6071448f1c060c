import { stringify } from "yaml";
import { containerNodeSettings } from "../../sandbox/nodes";
import { KUBERNETES_VERSION } from "../../sandbox/systems/ssh-configuration";
import type { TestCluster } from "./test-cluster";

/** How a cluster is made by hand. */
export interface PlainCluster {
  readonly controlPlanes: readonly string[];
  readonly workers: readonly string[];
  /** Host names of machines that are not called like their Nodes. */
  readonly hostnames?: Readonly<Record<string, string>>;
  readonly podSubnet: string;
  /** kubeadm's controlPlaneEndpoint; absent: none, as kubeadm does without an answer to it. */
  readonly endpoint?: string;
  /** Of Kubernetes; its bundle is on the machines. */
  readonly version?: string;
}

const MINUTES = 300;
const IGNORED = containerNodeSettings.ignorePreflightErrors.join(",");
const KUBECTL = "kubectl --kubeconfig /etc/kubernetes/admin.conf";

/** What an administrator does on a machine before kubeadm: programs, a unit, containerd, images. */
const prepare = (version: string) => `set -euo pipefail
bundle=/opt/foresail/bundle/v${version}
install -m 0755 $bundle/bin/{kubeadm,kubelet,kubectl} /usr/local/bin/
cat >/etc/systemd/system/kubelet.service <<'UNIT'
[Unit]
Description=kubelet, by hand
After=containerd.service
[Service]
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
ExecStart=/usr/local/bin/kubelet --bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf --config=/var/lib/kubelet/config.yaml $KUBELET_KUBEADM_ARGS
Restart=always
StartLimitInterval=0
RestartSec=2
[Install]
WantedBy=multi-user.target
UNIT
mkdir -p /etc/containerd /opt/cni/bin
ln -sf /usr/lib/cni/* /opt/cni/bin/
pause=$(kubeadm config images list --kubernetes-version v${version} 2>/dev/null | grep /pause:)
containerd config default | sed -E -e "s|^( *sandbox(_image)? = ).*|\\1\\"$pause\\"|" -e 's|^( *restrict_oom_score_adj = ).*|\\1true|' >/etc/containerd/config.toml
systemctl daemon-reload
systemctl restart containerd
systemctl enable --quiet kubelet
timeout 60 bash -c 'until ctr version >/dev/null 2>&1; do sleep 0.2; done'
have=$(ctr --namespace k8s.io images list --quiet)
if ! grep -q /kube-apiserver:v${version} <<<"$have"; then
  for archive in $bundle/images/*.tar; do ctr --namespace k8s.io images import "$archive" >/dev/null; done
fi
`;

/**
 * Makes a cluster with kubeadm alone, as an administrator without foresail would, by hand or by a playbook. The machines
 * have to run.
 */
export async function makePlainCluster(cluster: TestCluster, plain: PlainCluster): Promise<void> {
  const { controlPlanes, workers, hostnames = {}, podSubnet, version = KUBERNETES_VERSION } = plain;
  const machines = [...controlPlanes, ...workers];
  const [first = "", ...others] = controlPlanes;
  const run = (machine: string, script: string) => cluster.onMachine(machine, script, MINUTES);
  await Promise.all(machines.map((machine) => run(machine, prepare(version))));
  await run(
    first,
    `cat >/root/kubeadm.yaml <<'YAML'\n${initConfiguration(plain)}YAML\nkubeadm init --config /root/kubeadm.yaml --ignore-preflight-errors=${IGNORED}`,
  );
  const join = (await run(first, "kubeadm token create --print-join-command")).trim();
  const joinAs = (name: string, flags = "") => {
    const hostname = hostnames[name];
    const rename = hostname === undefined ? "" : `hostname ${hostname}; echo ${hostname} >/etc/hostname\n`;
    return run(name, `${rename}${join} ${flags} --node-name ${name} --ignore-preflight-errors=${IGNORED}`);
  };
  if (others.length > 0) {
    const upload = "kubeadm init phase upload-certs --upload-certs --config /root/kubeadm.yaml";
    const key = await run(first, `${upload} | tail -n 1`);
    // one at a time: each becomes a member of etcd
    for (const name of others) await joinAs(name, `--control-plane --certificate-key ${key.trim()}`);
  }
  await Promise.all(workers.map((name) => joinAs(name)));
  await writePlugins(cluster, podSubnet, await podBlocks(cluster, first, machines));
  await run(first, `${KUBECTL} wait --for=condition=Ready nodes --all --timeout=120s`);
}

/** Tells whether an earlier run, whose cluster was kept, has made it. */
export const isMade = async (cluster: TestCluster, controlPlane: string): Promise<boolean> =>
  (await cluster.onMachine(controlPlane, "ls /etc/kubernetes/admin.conf 2>/dev/null || true")) !== "";

/** Returns the administrator's kubeconfig, for the port that the machine publishes. */
export async function plainKubeconfig(cluster: TestCluster, controlPlane: string): Promise<string> {
  const text = await cluster.onMachine(controlPlane, "cat /etc/kubernetes/admin.conf");
  const node = (await cluster.fleet.list()).find(({ name }) => name === controlPlane);
  return text.replace(/server: .*/, `server: https://${node?.address}:${node?.apiPort}`);
}

/** Returns the block of addresses that the controller manager has given to the pods of each node, and waits for it. */
export async function podBlocks(
  cluster: TestCluster,
  controlPlane: string,
  names: readonly string[],
): Promise<Map<string, string>> {
  const blocks = new Map<string, string>();
  for (const name of names) {
    const wait = `${KUBECTL} wait --for=jsonpath='{.spec.podCIDR}' node/${name} --timeout=120s >/dev/null`;
    const read = `${KUBECTL} get node ${name} --output 'jsonpath={.spec.podCIDR}'`;
    blocks.set(name, (await cluster.onMachine(controlPlane, `${wait}; ${read}`, MINUTES)).trim());
  }
  return blocks;
}

/**
 * Writes a network plugin that foresail has no preset for: on each machine a file of its own, and routes to the pods of the
 * others. May be repeated when machines were added.
 *
 * @param blocks of addresses for the pods of each machine
 */
export async function writePlugins(
  cluster: TestCluster,
  podSubnet: string,
  blocks: ReadonlyMap<string, string>,
): Promise<void> {
  const nodes = await cluster.fleet.list();
  const addressOf = (machine: string) => nodes.find(({ name }) => name === machine)?.internalAddress ?? "";
  await Promise.all(
    [...blocks].map(async ([machine, own]) => {
      const ipam = { type: "host-local", ranges: [[{ subnet: own }]], routes: [{ dst: "0.0.0.0/0" }] };
      const conflist = { cniVersion: "0.4.0", name: "by-hand", plugins: [{ type: "ptp", ipam }] };
      const routes = [...blocks]
        .filter(([other]) => other !== machine)
        .map(([other, block]) => `ip route replace ${block} via ${addressOf(other)}`);
      const masquerade = `POSTROUTING --source ${own} ! --destination ${podSubnet} --jump MASQUERADE`;
      const script = `set -euo pipefail
mkdir -p /etc/cni/net.d
echo '${JSON.stringify(conflist)}' >/etc/cni/net.d/20-by-hand.conflist
${routes.join("\n")}
iptables --table nat --check ${masquerade} 2>/dev/null || iptables --table nat --append ${masquerade}`;
      await cluster.onMachine(machine, script);
    }),
  );
}

function initConfiguration({
  podSubnet,
  endpoint,
  version = KUBERNETES_VERSION,
}: Pick<PlainCluster, "podSubnet" | "endpoint" | "version">): string {
  const documents = [
    {
      apiVersion: "kubeadm.k8s.io/v1beta4",
      kind: "ClusterConfiguration",
      kubernetesVersion: `v${version}`,
      ...(endpoint === undefined ? {} : { controlPlaneEndpoint: endpoint }),
      networking: { podSubnet },
      // the test reaches it through a published port
      apiServer: { certSANs: ["127.0.0.1"] },
      ...containerNodeSettings.kubeadm.clusterConfiguration,
    },
    {
      apiVersion: "kubelet.config.k8s.io/v1beta1",
      kind: "KubeletConfiguration",
      ...containerNodeSettings.kubelet,
    },
    {
      apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
      kind: "KubeProxyConfiguration",
      ...containerNodeSettings.kubeProxy,
    },
  ];
  return documents.map((document) => stringify(document)).join("---\n");
}
