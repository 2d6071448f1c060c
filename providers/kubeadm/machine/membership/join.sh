# shellcheck shell=bash
# given: common/kubernetes-packages common/kubernetes-bundle common/member common/kubeadm common/prepared common/agent-installation
# Runs kubeadm join, unless the machine is a member. Data: three base64 lines: the configuration, the discovery file, and
# for a control plane the archive of control-plane-secrets. Answers agent when it has installed the node agent, too.
# Parameters: VERSION is that of the cluster: the machine may have been prepared for another version, which the rollout
# installs after the join as on every other node. AGENT: whether to install the node agent, by common/agent-installation

is_own_server_ready() {
  curl --silent --fail --insecure --noproxy '*' --max-time 2 --output /dev/null https://127.0.0.1:6443/readyz
}

# Restarts the kubelet when what it waits for has come: it would notice only after a pause. Its pauses double, those for its
# certificate up to a minute, and those for its Node up to 7 s. Ends when kubeadm has.
hasten_kubelet() {
  local certificate=/var/lib/kubelet/pki/kubelet-client-current.pem restarted=no now since
  until [ -e "$certificate" ]; do
    if [ ! -e "$SCRATCH_PATH/joining" ] || ! kill -0 $$; then return; fi
    # the kubelet of a control plane asks the API server of its own machine, which starts after it
    if [ -n "$secrets" ] && [ "$restarted" = no ] && is_own_server_ready; then
      systemctl restart kubelet
      restarted=yes
    fi
    sleep 0.2
  done
  since=$(systemctl show kubelet --property ActiveEnterTimestampMonotonic --value)
  read -r now _ </proc/uptime
  # what is left of its pause is no longer than it has waited
  if [ $((${now%.*} - since / 1000000)) -ge 2 ]; then systemctl restart kubelet; fi
}

refuse_foreign_machine
if is_member; then exit 0; fi
refuse_unprepared "take it out of the configuration, run \`up\`, then add it again"
if [ -e "$MEMBER_PATH" ]; then
  # it was reset by hand: the built-in network writes its files for the new Node when it starts, and containerd no longer
  # watches their folder if that was removed
  rm "$MEMBER_PATH"
  mkdir -p /etc/cni/net.d
  restart_unit containerd
  if systemctl is-enabled --quiet foresail-bridge 2>/dev/null; then systemctl restart --no-block foresail-bridge; fi
fi
refuse_other_preparation
read -r configuration <&5
read -r discovery <&5
read -r secrets <&5
# the machine may have been rebooted a moment ago
await_containerd
clear_half_made
install_kubernetes kubeadm kubelet kubectl
import_images machine
printf '%s' "$configuration" | base64 -d >"$SCRATCH_PATH/join.yaml"
printf '%s' "$discovery" | base64 -d >"$SCRATCH_PATH/discovery.yaml"
if [ -n "$secrets" ]; then
  mkdir -p /etc/kubernetes
  printf '%s' "$secrets" | base64 -d | tar -xf - -C /etc/kubernetes
fi
touch "$SCRATCH_PATH/joining"
hasten_kubelet 3>&- 4>&- 5>&- 9>&- &
hastening=$!
installing=""
if [ "$AGENT" = yes ]; then
  # it begins when this machine is a member
  (write_agent; start_agent) 3>&- 4>&- 5>&- 9>&- &
  installing=$!
fi
kubeadm join --config "$SCRATCH_PATH/join.yaml"
rm "$SCRATCH_PATH/joining"
wait "$hastening" || true
record_configuration
mark_member
if [ -n "$installing" ]; then
  # the caller may be gone
  if wait "$installing"; then echo agent >&4 || true; else echo "the node agent is not installed; the lines before this one say why"; fi
fi
