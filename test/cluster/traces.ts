import { ContainerEngine } from "../../sandbox/nodes/engine";
import { fleetNames, projectHash } from "../../sandbox/nodes/names";
import { projectFolder } from "../../sandbox/nodes/paths";
import type { TestCluster } from "./test-cluster";

/**
 * What a machine may keep after a reset, as docs/security.md lists it: packages and programs, images, and logs of
 * foresail.
 */
const KEPT = [
  "^/(etc/systemd/system|usr/lib/systemd/system|lib/systemd/system)/kubelet\\.service$",
  "^/usr/local/bin/(kubeadm|kubelet|kubectl)$",
  "^/(opt|usr/lib)/cni(/bin)?/",
  "^/var/log/foresail/",
  "^/run/foresail\\.lock$",
  "^/var/lib/(containerd|dpkg|apt)/",
  "^/usr/share/",
  // what the configuration of a test put elsewhere: its audit log; and the tests' own programs
  "^/var/log/kubernetes/audit\\.log$",
  "^/(var/lib|run)/foresail-test-[a-z]+\\.(sh|log|conf)$",
  // the sandbox's own: its user, its keys of SSH, its bundles, and the unit of its container nodes
  "^/(home/foresail|etc/foresail/keys|opt/foresail)/",
  "^/etc/(sudoers\\.d/foresail|ssh/sshd_config\\.d/foresail\\.conf)$",
  "/foresail-node(\\.service)?$",
  "^/run/systemd/units/invocation:foresail-node\\.service$",
];

/** What a machine still has of a cluster, one per line; empty after a reset. */
export async function traces(cluster: TestCluster, machine: string): Promise<string[]> {
  const found = await cluster.onMachine(
    machine,
    `
find /.kube /etc /var /run /opt /usr /root /home /srv /tmp -xdev ! -type d 2>/dev/null \\
  | grep -i -E 'kube|etcd|foresail|/cni/|/pki/|calico|cilium|flannel|/var/log/(pods|containers)/' \\
  | grep -v -E '${KEPT.join("|")}' || true
find /var/lib/kubelet /var/lib/etcd /etc/kubernetes -mindepth 1 2>/dev/null || true
for unit in kubelet foresail-endpoint foresail-bridge foresail-node-agent; do
  if systemctl is-active --quiet $unit; then echo "$unit runs"; fi
done
pgrep -l 'kube|etcd|haproxy|coredns|echo' || true
ls -d /var/run/netns/cni-* 2>/dev/null || true
ip -oneline link show type veth | grep -o 'veth[0-9a-f]*' || true
ip route show type unreachable
iptables-save | grep -E 'KUBE-|CNI-|foresail' || true
mount | grep -o '/var/lib/kubelet/[^ ]*' || true
ctr --namespace k8s.io containers list --quiet`,
  );
  return [...new Set(found.split("\n").filter((line) => line !== ""))];
}

/** Containers, volumes and networks that the container engine still has of a fleet. */
export async function leftOnEngine(fleet: string): Promise<string[]> {
  const engine = await ContainerEngine.find();
  if (engine === undefined) return [];
  const { labels } = fleetNames(projectHash(projectFolder), fleet);
  const containers = (await engine.containers(labels)).map(({ name }) => name);
  return [...containers, ...(await engine.volumes(labels)), ...(await engine.networks(labels))];
}
