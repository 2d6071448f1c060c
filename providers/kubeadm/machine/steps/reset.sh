# shellcheck shell=bash
# Resets the machine: kubeadm reset, and removal of everything that foresail put there for this cluster, except packages,
# container images and kernel settings. Changes nothing on a machine that does not belong to this cluster. The etcd member
# is removed elsewhere, through a control plane that stays.

# Removes the devices, routes and rules of pods.
clear_network() {
  local network device route kind rule
  for network in /var/run/netns/cni-*; do [ ! -e "$network" ] || ip netns delete "$(basename "$network")" || true; done
  for device in $(ip -oneline link show type veth 2>/dev/null | grep -o 'veth[0-9a-f]\{8\}' | sort -u); do ip link delete "$device" || true; done
  # shellcheck disable=SC2086 # a route is several words
  while read -r route; do ip route delete $route || true; done < <(ip route show type unreachable)
  # the kernel has tables of two kinds
  for kind in iptables iptables-legacy iptables-nft; do
    if command -v "$kind-save" >/dev/null && [ -n "$("$kind-save")" ]; then
      "$kind-save" | grep -v -E 'KUBE-|CNI-|--comment foresail' | "$kind-restore" || true
    fi
  done
  # and chains of others, in which the built-in network accepts packets of pods
  while read -r -a rule; do nft delete rule "${rule[@]}" || true; done < <(nft --handle list ruleset 2>/dev/null |
    awk '$1 == "table" { table = $2 " " $3 } $1 == "chain" { chain = $2 } / accept comment "foresail"/ { sub(/.*# /, ""); print table, chain, $0 }')
}

# Removes all files of Kubernetes, etcd and foresail, except programs, images, kernel settings, foresail's logs, and files
# that the configuration put elsewhere. A machine with files in /etc/kubernetes is refused before it is claimed, so
# everything there belongs to this cluster. The marker is removed last, so that an interrupted reset can begin again.
clear_files() {
  local mounted folder
  remove_path "$(cat "$ETCD_DATA_PATH" 2>/dev/null || echo /var/lib/etcd)/member"
  # kubeadm unmounts the volumes of pods, and what is in them is not of Kubernetes
  mounted=$(awk '$2 ~ "^/var/lib/kubelet/" {print $2}' /proc/self/mounts)
  [ -z "$mounted" ] || fail "volumes are still mounted: ${mounted//$'\n'/ }; unmount them, then run the command again"
  for folder in /etc/kubernetes /var/lib/kubelet; do [ ! -d "$folder" ] || find "$folder" -mindepth 1 -xdev -delete; done
  # of the pod networks that foresail has presets for; other software may have its own files there
  rm -rf /etc/cni/net.d/{10-foresail.conflist,.10-foresail.conflist.new,10-flannel.conflist,05-cilium.conflist,10-calico.conflist,calico-kubeconfig}
  rm -rf /var/lib/{cni,calico} /run/{flannel,cilium,calico} /var/log/{pods,containers} /usr/local/lib/foresail
  rm -f "$AGENT_UNIT_PATH" /etc/systemd/system/foresail-{bridge,endpoint}.service /etc/systemd/system/kubelet.service.d/{foresail-hardening,00-foresail-environment}.conf
  rm -f /run/foresail-node-agent.{lock,words} /run/foresail-endpoint.pid /run/foresail-containerd.toml
  systemctl daemon-reload
  rm -f "$AGENT_CONFIGURATION_PATH" "$HAPROXY_PATH"
  rm -rf /var/lib/foresail
  rm -f "$MARKER_PATH"
}

refuse_foreign_machine
if [ ! -e "$MARKER_PATH" ]; then exit 0; fi
# first, so that the agent does not restore what the next lines remove
systemctl disable --quiet --now foresail-node-agent 2>/dev/null || true
systemctl disable --quiet --now foresail-bridge 2>/dev/null || true
# the configuration may have chosen another folder, and kubeadm does not remove it when it removes no member
etcd_data=$(sed -n 's/^ *- --data-dir=//p' /etc/kubernetes/manifests/etcd.yaml 2>/dev/null || true)
if [ -n "$etcd_data" ]; then printf '%s\n' "$etcd_data" >"$ETCD_DATA_PATH"; fi
if command -v kubeadm >/dev/null; then kubeadm reset --force --skip-phases=remove-etcd-member; fi
systemctl disable --quiet --now kubelet foresail-endpoint 2>/dev/null || true
# kubeadm's first pass misses containers that the kubelet was just starting when it was stopped
if command -v ctr >/dev/null; then
  for _ in 1 2 3; do
    [ -n "$(ctr --namespace k8s.io containers list --quiet)" ] || break
    kubeadm reset phase cleanup-node || true
  done
fi
clear_network
release_own_address
clear_files
