# shellcheck shell=bash
# The cluster's API with the administrator's credentials of a control plane, and kube-proxy in it.
# else kubectl leaves its cache in the home of root
export KUBECACHEDIR=$SCRATCH_PATH/kubectl-cache
kubectl_as_administrator() { kubectl --kubeconfig /etc/kubernetes/admin.conf --request-timeout=30s "$@"; }

# Restarts kube-proxy on one node after another, and waits for it.
restart_kube_proxy() {
  kubectl_as_administrator --namespace kube-system rollout restart daemonset/kube-proxy
  kubectl_as_administrator --namespace kube-system rollout status daemonset/kube-proxy --timeout=300s
}
