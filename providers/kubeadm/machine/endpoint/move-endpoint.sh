# shellcheck shell=bash
# needs: common/moved-endpoint common/plain-yaml common/kube-proxy
# Writes another endpoint of the API servers into the cluster's own objects: where kubeadm finds it, where joining machines
# do, and where kube-proxy does, if there is one. Everything else in them stays. Parameters: those of common/moved-endpoint
refuse_foreign_machine
written=$SCRATCH_PATH/object.yaml
moved=$SCRATCH_PATH/moved.yaml

# Replaces a text of a ConfigMap by what a function makes of it, unless that is the same: NAMESPACE NAME KEY FUNCTION. The function
# reads the text in plain YAML from one file and writes another.
edit() {
  local text words key=${3//./\\.}
  text=$(kubectl_as_administrator --namespace "$1" get configmap "$2" --output "jsonpath={.data.$key}")
  words=$(as_plain_yaml <<<"$text" 2>&1 >"$written" && "$4") ||
    fail "$MACHINE: the ConfigMap $2 has no form in which foresail can change the endpoint${words:+ ($words)}; set it in $1/$2, $3, by hand" 65
  if cmp --silent "$written" "$moved"; then return 0; fi
  { printf 'data:\n  %s: |\n' "$3"; sed 's/^/    /' "$moved"; } >"$written"
  kubectl_as_administrator --namespace "$1" patch configmap "$2" --type merge --patch-file "$written"
}

# kubeadm-config may not have had one.
set_endpoint() { as_plain_yaml "{\"controlPlaneEndpoint\":\"$ENDPOINT\"}" <"$written" >"$moved"; }

replace_server() {
  local former
  with_endpoint "$written" >"$moved"
  for former in "${FORMER_ENDPOINTS[@]}"; do
    if [ "$former" != "$ENDPOINT" ] && grep -qwF "https://$former" "$moved"; then return 1; fi
  done
}

edit kube-system kubeadm-config ClusterConfiguration set_endpoint
edit kube-public cluster-info kubeconfig replace_server
if [ -n "$(kubectl_as_administrator --namespace kube-system get daemonset kube-proxy --ignore-not-found --output name)" ]; then
  edit kube-system kube-proxy kubeconfig.conf replace_server
  # also after a kill, when the ConfigMap has it already
  restart_kube_proxy
fi
