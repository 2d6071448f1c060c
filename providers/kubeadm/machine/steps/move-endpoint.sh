# shellcheck shell=bash
# Writes another endpoint of the API servers into the cluster's own objects: where kubeadm finds it, where joining machines
# do, and where kube-proxy does, if there is one. Everything else in them stays. Parameters: those of common/moved-endpoint
refuse_foreign_machine
# else it leaves its cache in the home of root
export KUBECACHEDIR=$SCRATCH_PATH/kubectl-cache
kubectl_as_administrator() { kubectl --kubeconfig /etc/kubernetes/admin.conf --request-timeout=30s "$@"; }
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
  kubectl_as_administrator --namespace kube-system rollout restart daemonset/kube-proxy
  kubectl_as_administrator --namespace kube-system rollout status daemonset/kube-proxy --timeout=300s
fi
