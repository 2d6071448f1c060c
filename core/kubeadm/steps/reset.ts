import { NODE_PATHS } from "../paths";
import { releaseOwnAddress } from "./own-address";
import { refuseForeignMachine } from "./ownership";
import { frame, type Script } from "./script";

/**
 * Takes the API server of a leaving control plane out of service: its manifest goes, and the step ends when
 * nothing listens any more, so that no request reaches a server whose etcd is being removed.
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
 * Gives a machine back: kubeadm reset and everything foresail put there for this cluster, except packages,
 * container images and the settings of the kernel. Nothing happens on a machine that is not ours. The etcd
 * member is removed elsewhere, through a control plane that stays.
 */
export function resetScript(cluster: string, machine: string): Script {
  return frame(
    "reset",
    machine,
    [
      refuseForeignMachine(cluster, machine),
      `if [ ! -e ${NODE_PATHS.marker} ]; then exit 0; fi`,
      // first of all: what is about to be taken apart must not be put together again
      "systemctl disable --quiet --now foresail-node-agent 2>/dev/null || true",
      "systemctl disable --quiet --now foresail-bridge 2>/dev/null || true",
      "if command -v kubeadm >/dev/null; then kubeadm reset --force --skip-phases=remove-etcd-member; fi",
      "systemctl disable --quiet --now kubelet foresail-endpoint 2>/dev/null || true",
      // what the kubelet was just starting when it was stopped, the first look of kubeadm misses
      `if command -v ctr >/dev/null; then for attempt in 1 2 3; do [ -n "$(ctr --namespace k8s.io containers list --quiet)" ] || break; kubeadm reset phase cleanup-node || true; done; fi`,
      `for network in /var/run/netns/cni-*; do [ ! -e "$network" ] || ip netns delete "$(basename "$network")" || true; done`,
      `for device in $(ip -oneline link show type veth 2>/dev/null | grep -o 'veth[0-9a-f]\\{8\\}' | sort -u); do ip link delete "$device" || true; done`,
      "while read -r route; do ip route delete $route || true; done < <(ip route show type unreachable)",
      "if command -v iptables-save >/dev/null; then iptables-save | grep -v -E 'KUBE-|CNI-|--comment foresail' | iptables-restore || true; fi",
      // else the next cluster would take the machine for somebody else's; files elsewhere may be the machine's own
      `if [ -e ${NODE_PATHS.files} ]; then grep '^/etc/kubernetes/' ${NODE_PATHS.files} | tr '\\n' '\\0' | xargs -0 --no-run-if-empty rm -f -- || true; fi`,
      releaseOwnAddress(),
      "rm -rf /etc/cni/net.d/10-foresail.conflist /var/lib/cni /var/lib/etcd/member /etc/kubernetes/foresail /usr/local/lib/foresail",
      `rm -rf ${NODE_PATHS.agent}`,
      `rm -f ${NODE_PATHS.agentUnit} ${NODE_PATHS.agentConfiguration}`,
      "rm -f /etc/systemd/system/foresail-bridge.service /etc/systemd/system/foresail-endpoint.service",
      `rm -f ${NODE_PATHS.haproxy} ${NODE_PATHS.files} ${NODE_PATHS.member} ${NODE_PATHS.marker}`,
      "systemctl daemon-reload",
    ].join("\n"),
  );
}
