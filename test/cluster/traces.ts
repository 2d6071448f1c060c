import { ContainerEngine } from "../../sandbox/nodes/engine";
import { fleetNames, projectHash } from "../../sandbox/nodes/names";
import { projectFolder } from "../../sandbox/nodes/places";
import type { TestCluster } from "./test-cluster";

/** What a machine still has of a cluster, a line each; empty after a reset. */
export async function traces(cluster: TestCluster, machine: string): Promise<string[]> {
  const found = await cluster.onMachine(
    machine,
    `
# the sandbox keeps its keys of SSH in a folder of /etc/foresail
find /etc/foresail -maxdepth 1 -type f 2>/dev/null || true
find /etc/kubernetes /etc/cni/net.d /var/lib/etcd /var/lib/foresail/member -type f 2>/dev/null || true
for unit in kubelet foresail-endpoint foresail-bridge; do
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
  return found.split("\n").filter((line) => line !== "");
}

/** Containers, volumes and networks that the container engine still has of a fleet. */
export async function leftOnEngine(fleet: string): Promise<string[]> {
  const engine = await ContainerEngine.find();
  if (engine === undefined) return [];
  const { labels } = fleetNames(projectHash(projectFolder), fleet);
  const containers = (await engine.containers(labels)).map(({ name }) => name);
  return [...containers, ...(await engine.volumes(labels)), ...(await engine.networks(labels))];
}
