# shellcheck shell=bash
# needs: common/own-address common/restore common/network-names common/pod-networks
# Resets the machine: kubeadm reset, and removal of everything that foresail and the pod network put there for this cluster,
# except packages, programs, container images and foresail's logs. Changes nothing on a machine that does not belong to this
# cluster. The etcd member is removed elsewhere, through a control plane that stays.

# Removes all files of Kubernetes, etcd and foresail, except programs, images and foresail's logs. A machine with files in
# /etc/kubernetes is refused before it is claimed, so everything there belongs to this cluster. An interrupted reset can begin
# again: the marker stays until everything else is done, and the record of the machine as long as the marker.
clear_files() {
  local mounted folder
  remove_path "$(cat "$ETCD_DATA_PATH" 2>/dev/null || echo /var/lib/etcd)/member"
  # kubeadm unmounts the volumes of pods, and what is in them is not of Kubernetes
  mounted=$(awk '$2 ~ "^/var/lib/kubelet/" {print $2}' /proc/self/mounts)
  [ -z "$mounted" ] || fail "volumes are still mounted: ${mounted//$'\n'/ }; unmount them, then run the command again"
  for folder in /etc/kubernetes /var/lib/kubelet; do [ ! -d "$folder" ] || find "$folder" -mindepth 1 -xdev -delete; done
  clear_network_files
  rm -rf /var/log/{pods,containers} /usr/local/lib/foresail
  rm -f "$AGENT_UNIT_PATH" /etc/systemd/system/foresail-{bridge,endpoint}.service /etc/systemd/system/kubelet.service.d/{foresail-hardening,00-foresail-environment}.conf
  rm -f /run/foresail-node-agent.{lock,words} /run/foresail-endpoint.pid /run/foresail-containerd.toml
  systemctl daemon-reload
  restore_before
  rm -f "$AGENT_CONFIGURATION_PATH" "$HAPROXY_PATH"
  find /var/lib/foresail -mindepth 1 -maxdepth 1 ! -path "$BEFORE_PATH" -exec rm -rf {} +
  rm -f "$MARKER_PATH"
  rm -rf /var/lib/foresail
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
