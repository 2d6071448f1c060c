# shellcheck shell=bash
# Writes another endpoint of the API servers into the cluster's own objects: where kubeadm finds it, where joining machines
# do, and where kube-proxy does, if there is one. Everything else in them stays. Parameters: those of common/moved-endpoint
refuse_foreign_machine
object=$SCRATCH_PATH/object.yaml

# Replaces a ConfigMap by what a function prints for its text, unless that is the same: NAMESPACE NAME FUNCTION.
edit() {
  kubectl_as_administrator --namespace "$1" get configmap "$2" --output yaml >"$object"
  "$3" "$object" >"$object.new"
  if ! cmp --silent "$object" "$object.new"; then kubectl_as_administrator replace --filename "$object.new"; fi
}

# Prints kubeadm-config with the endpoint, which it may not have had: FILE.
with_control_plane_endpoint() {
  sed -e '/^    controlPlaneEndpoint:/d' -e "s|^    kind: ClusterConfiguration\$|&\n    controlPlaneEndpoint: $ENDPOINT|" "$1"
}

edit kube-system kubeadm-config with_control_plane_endpoint
grep -qxF "    controlPlaneEndpoint: $ENDPOINT" "$object.new" ||
  fail "$MACHINE: the ConfigMap kubeadm-config has no form in which foresail can change controlPlaneEndpoint; set it there by hand" 65
edit kube-public cluster-info with_endpoint
if [ -n "$(kubectl_as_administrator --namespace kube-system get daemonset kube-proxy --ignore-not-found --output name)" ]; then
  edit kube-system kube-proxy with_endpoint
  # also after a kill, when the ConfigMap has it already
  restart_kube_proxy
fi
