import { NODE_PATHS } from "../../plan/node-paths";
import { releaseOwnAddress } from "./own-address";
import { refuseForeignMachine } from "./ownership";
import { frame, type Script } from "./script";

/**
 * Takes the API server of a leaving control plane out of service: removes its manifest and waits until nothing listens
 * any more, so that no request reaches a server whose etcd is being removed.
 */
export function leaveControlPlaneScript(cluster: string, machine: string): Script {
  return frame(
    "leave-control-plane",
    machine,
    [
      refuseForeignMachine(cluster, machine),
      "rm -f /etc/kubernetes/manifests/kube-apiserver.yaml",
      `timeout 120 bash -c 'while ss --listening --tcp --numeric | grep -q ":6443 "; do sleep 0.5; done' || fail "the API server still listens after 120 seconds"`,
    ].join("\n"),
  );
}

/**
 * Configuration and state of the pod networks that foresail has presets for; other software may have its own files
 * there.
 */
const POD_NETWORK_FILES = [
  "/etc/cni/net.d/{10-foresail.conflist,.10-foresail.conflist.new,10-flannel.conflist,05-cilium.conflist,10-calico.conflist,calico-kubeconfig}",
  "/var/lib/cni /var/lib/calico /run/flannel /run/cilium /run/calico",
].join(" ");

/** Shell lines that remove the devices, routes and rules of pods. */
const CLEAR_NETWORK = `
for network in /var/run/netns/cni-*; do [ ! -e "$network" ] || ip netns delete "$(basename "$network")" || true; done
for device in $(ip -oneline link show type veth 2>/dev/null | grep -o 'veth[0-9a-f]\\{8\\}' | sort -u); do ip link delete "$device" || true; done
while read -r route; do ip route delete $route || true; done < <(ip route show type unreachable)
if command -v iptables-save >/dev/null; then iptables-save | grep -v -E 'KUBE-|CNI-|--comment foresail' | iptables-restore || true; fi`.trim();

/**
 * Shell lines that remove all files of Kubernetes, etcd and foresail, except programs, images, kernel settings,
 * foresail's logs, and files that the configuration put elsewhere. A machine with files in /etc/kubernetes is refused
 * before it is claimed, so everything there belongs to this cluster. The marker is removed last, so that an interrupted
 * reset can begin again.
 */
const CLEAR_FILES = `
rm -rf "$(cat ${NODE_PATHS.etcdData} 2>/dev/null || echo /var/lib/etcd)/member"
# kubeadm unmounts the volumes of pods, and what is in them is not of Kubernetes
mounted=$(awk '$2 ~ "^/var/lib/kubelet/" {print $2}' /proc/self/mounts)
[ -z "$mounted" ] || fail "volumes are still mounted: $(echo $mounted); unmount them, then run the command again"
for folder in /etc/kubernetes /var/lib/kubelet; do [ ! -d "$folder" ] || find "$folder" -mindepth 1 -xdev -delete; done
rm -rf ${POD_NETWORK_FILES} /var/log/pods /var/log/containers /usr/local/lib/foresail
rm -f ${NODE_PATHS.agentUnit} /etc/systemd/system/foresail-bridge.service /etc/systemd/system/foresail-endpoint.service
rm -f /run/foresail-node-agent.lock /run/foresail-node-agent.words /run/foresail-endpoint.pid /run/foresail-containerd.toml
systemctl daemon-reload
rm -f ${NODE_PATHS.agentConfiguration} ${NODE_PATHS.haproxy}
rm -rf /var/lib/foresail
rm -f ${NODE_PATHS.marker}`.trim();

/**
 * Resets a machine: kubeadm reset, and removal of everything that foresail put there for this cluster, except packages,
 * container images and kernel settings. Changes nothing on a machine that does not belong to this cluster. The etcd
 * member is removed elsewhere, through a control plane that stays.
 */
export function resetScript(cluster: string, machine: string): Script {
  return frame(
    "reset",
    machine,
    [
      refuseForeignMachine(cluster, machine),
      `if [ ! -e ${NODE_PATHS.marker} ]; then exit 0; fi`,
      // first, so that the agent does not restore what the next lines remove
      "systemctl disable --quiet --now foresail-node-agent 2>/dev/null || true",
      "systemctl disable --quiet --now foresail-bridge 2>/dev/null || true",
      // the configuration may have chosen another folder, and kubeadm does not remove it when it removes no member
      `etcd_data=$(sed -n 's/^ *- --data-dir=//p' /etc/kubernetes/manifests/etcd.yaml 2>/dev/null || true); if [ -n "$etcd_data" ]; then printf '%s\\n' "$etcd_data" > ${NODE_PATHS.etcdData}; fi`,
      "if command -v kubeadm >/dev/null; then kubeadm reset --force --skip-phases=remove-etcd-member; fi",
      "systemctl disable --quiet --now kubelet foresail-endpoint 2>/dev/null || true",
      // kubeadm's first pass misses containers that the kubelet was just starting when it was stopped
      `if command -v ctr >/dev/null; then for attempt in 1 2 3; do [ -n "$(ctr --namespace k8s.io containers list --quiet)" ] || break; kubeadm reset phase cleanup-node || true; done; fi`,
      CLEAR_NETWORK,
      releaseOwnAddress(),
      CLEAR_FILES,
    ].join("\n"),
  );
}
