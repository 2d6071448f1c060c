import { stringify } from "yaml";
import { containerNodeSettings } from "../../sandbox/nodes";
import { KUBERNETES_VERSION } from "../../sandbox/systems/ssh-configuration";
import type { TestCluster } from "./test-cluster";

/** How a cluster is made by hand. */
export interface PlainCluster {
  readonly controlPlane: string;
  /** The worker, whose machine has another host name than its Node. */
  readonly worker: string;
  readonly hostname: string;
  readonly podSubnet: string;
  /** kubeadm's controlPlaneEndpoint; absent: none. */
  readonly endpoint?: string;
}

const BUNDLE = `/opt/foresail/bundle/v${KUBERNETES_VERSION}`;
const MINUTES = 300;
const IGNORED = containerNodeSettings.ignorePreflightErrors.join(",");

/** What an administrator does on a machine before kubeadm: programs, a unit, containerd, images. */
const PREPARE = `set -euo pipefail
install -m 0755 ${BUNDLE}/bin/{kubeadm,kubelet,kubectl} /usr/local/bin/
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
pause=$(kubeadm config images list --kubernetes-version v${KUBERNETES_VERSION} 2>/dev/null | grep /pause:)
containerd config default | sed -E -e "s|^( *sandbox_image = ).*|\\1\\"$pause\\"|" -e 's|^( *restrict_oom_score_adj = ).*|\\1true|' >/etc/containerd/config.toml
systemctl daemon-reload
systemctl restart containerd
systemctl enable --quiet kubelet
timeout 60 bash -c 'until ctr version >/dev/null 2>&1; do sleep 0.2; done'
for archive in ${BUNDLE}/images/*.tar; do ctr --namespace k8s.io images import "$archive" >/dev/null; done
`;

/**
 * Makes a cluster of one control plane and one worker with kubeadm alone, as an administrator without foresail would.
 * The machines have to run.
 */
export async function makePlainCluster(cluster: TestCluster, plain: PlainCluster): Promise<void> {
  const { controlPlane, worker, hostname, podSubnet } = plain;
  const run = (machine: string, script: string) => cluster.onMachine(machine, script, MINUTES);
  await Promise.all([controlPlane, worker].map((machine) => run(machine, PREPARE)));
  const addresses = new Map(
    (await cluster.fleet.list()).map(({ name, internalAddress }) => [name, internalAddress]),
  );
  await run(
    controlPlane,
    `cat >/root/kubeadm.yaml <<'YAML'\n${initConfiguration(plain)}YAML\nkubeadm init --config /root/kubeadm.yaml --ignore-preflight-errors=${IGNORED}`,
  );
  const join = (await run(controlPlane, "kubeadm token create --print-join-command")).trim();
  await run(
    worker,
    `hostname ${hostname}; echo ${hostname} >/etc/hostname\n${join} --node-name ${worker} --ignore-preflight-errors=${IGNORED}`,
  );
  const blocks = new Map<string, string>();
  for (const name of [controlPlane, worker])
    blocks.set(name, (await run(controlPlane, blockOf(name))).trim());
  const routes = [
    [controlPlane, worker],
    [worker, controlPlane],
  ] as const;
  for (const [machine, neighbor] of routes) {
    const [own = "", other, via] = [blocks.get(machine), blocks.get(neighbor), addresses.get(neighbor)];
    await writePlugin(cluster, machine, { own, other, via, podSubnet });
  }
  await run(controlPlane, `${KUBECTL} wait --for=condition=Ready nodes --all --timeout=120s`);
}

/** Returns the administrator's kubeconfig, for the port that the machine publishes. */
export async function plainKubeconfig(cluster: TestCluster, controlPlane: string): Promise<string> {
  const text = await cluster.onMachine(controlPlane, "cat /etc/kubernetes/admin.conf");
  const node = (await cluster.fleet.list()).find(({ name }) => name === controlPlane);
  return text.replace(/server: .*/, `server: https://${node?.address}:${node?.apiPort}`);
}

const KUBECTL = "kubectl --kubeconfig /etc/kubernetes/admin.conf";

/** Waits for the controller manager. */
const blockOf = (node: string) =>
  `${KUBECTL} wait --for=jsonpath='{.spec.podCIDR}' node/${node} --timeout=120s >/dev/null; ${KUBECTL} get node ${node} --output 'jsonpath={.spec.podCIDR}'`;

/** A route to the pods of another node. */
interface Route {
  readonly own: string;
  readonly podSubnet: string;
  readonly other?: string;
  readonly via?: string;
}

/** Writes a network plugin that foresail has no preset for: a file of its own, and a route to the other node's pods. */
export async function writePlugin(cluster: TestCluster, machine: string, route: Route): Promise<void> {
  const { own, other, via, podSubnet } = route;
  const ipam = { type: "host-local", ranges: [[{ subnet: own }]], routes: [{ dst: "0.0.0.0/0" }] };
  const conflist = { cniVersion: "0.4.0", name: "by-hand", plugins: [{ type: "ptp", ipam }] };
  const script = `set -euo pipefail
mkdir -p /etc/cni/net.d
echo '${JSON.stringify(conflist)}' >/etc/cni/net.d/20-by-hand.conflist
${other === undefined ? "" : `ip route replace ${other} via ${via}`}
iptables --table nat --append POSTROUTING --source ${own} ! --destination ${podSubnet} --jump MASQUERADE`;
  await cluster.onMachine(machine, script);
}

function initConfiguration({ podSubnet, endpoint }: PlainCluster): string {
  const documents = [
    {
      apiVersion: "kubeadm.k8s.io/v1beta4",
      kind: "ClusterConfiguration",
      kubernetesVersion: `v${KUBERNETES_VERSION}`,
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
