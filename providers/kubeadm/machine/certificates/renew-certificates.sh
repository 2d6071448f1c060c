# shellcheck shell=bash
# needs: common/certificates common/kubelet-certificate common/static-pods
# Renews certificates of a control plane by kubeadm, also without the API: all of them, with a restart of what reads them, or
# one. Waits for no static pod, since etcd may need other machines first. Parameters: CERTIFICATE (a name of kubeadm, or all)

# Signs the kubelet's certificate here if it has ended: a kubelet does not start with it, and the API is not there to sign.
renew_ended_kubelet() {
  local end pki=/etc/kubernetes/pki
  if end=$(end_of_certificate /var/lib/kubelet/pki/kubelet-client-current.pem) && [[ $end > $(date -u +%FT%TZ) ]]; then return 0; fi
  request_kubelet_certificate "$SCRATCH_PATH/kubelet.key" "$SCRATCH_PATH/kubelet.csr"
  openssl x509 -req -in "$SCRATCH_PATH/kubelet.csr" -CA "$pki/ca.crt" -CAkey "$pki/ca.key" -days 365 \
    -set_serial "0x$(openssl rand -hex 8)" -out "$SCRATCH_PATH/kubelet.crt" \
    -extfile <(printf 'keyUsage=critical,digitalSignature\nextendedKeyUsage=clientAuth\n')
  place_kubelet_certificate "$SCRATCH_PATH/kubelet.crt" "$SCRATCH_PATH/kubelet.key"
}

# Ends the processes of the static pods. A kubelet that starts makes their containers again at once. It would not take other
# manifests before it has reached the API, which is why these stay as they are.
stop_static_pods() {
  local name file pid deadline=$((SECONDS + 60)) pids=()
  local -A argument=([etcd]=data-dir [kube-apiserver]=etcd-servers [kube-controller-manager]=kubeconfig [kube-scheduler]=kubeconfig)
  for name in "${!argument[@]}"; do
    for file in $(processes_of "$name"); do
      pid=${file%/comm}
      # others may run an etcd or an API server on this machine, too
      if tr '\0' '\n' <"$pid/cmdline" | grep -qxF -- "--${argument[$name]}=$(argument_of "$name" "${argument[$name]}")"; then pids+=("${pid##*/}"); fi
    done
  done
  if [ "${#pids[@]}" = 0 ]; then return 0; fi
  kill "${pids[@]}" 2>/dev/null || true
  while [ "$SECONDS" -lt "$deadline" ] && kill -0 "${pids[@]}" 2>/dev/null; do sleep 0.2; done
  kill -KILL "${pids[@]}" 2>/dev/null || true
}

refuse_foreign_machine
mkdir -p "$AGENT_PATH"
if [ "$CERTIFICATE" = all ]; then touch "$AGENT_PATH/renewing-ended"; fi
# it asks the API for its configuration, and does without it when that does not answer
timeout 180 kubeadm certs renew "$CERTIFICATE" || fail "$MACHINE: kubeadm certs renew $CERTIFICATE ended with $?"
if [ "$CERTIFICATE" != all ]; then exit 0; fi
renew_ended_kubelet
(
  trap 'systemctl start kubelet' EXIT
  systemctl stop kubelet
  stop_static_pods
)
rm -f "$AGENT_PATH/renewing-ended"
