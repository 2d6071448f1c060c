# shellcheck shell=bash
# The cluster's API with the administrator's credentials of a control plane, and kube-proxy in it.
# else kubectl leaves its cache in the home of root
export KUBECACHEDIR=$SCRATCH_PATH/kubectl-cache
kubectl_as_administrator() { kubectl --kubeconfig /etc/kubernetes/admin.conf --request-timeout=30s "$@"; }

kubectl_of_system() { kubectl_as_administrator --namespace kube-system "$@"; }

# How long the next node waits for a restarted kube-proxy, which has no probe and counts as available at once. The DaemonSet's own
# value is in the annotation meanwhile.
KUBE_PROXY_READY_SECONDS=10
KUBE_PROXY_ANNOTATION=foresail/min-ready-seconds

# Prints a pod of kube-proxy that has ended three times since its restart and does not run, and its node: TIME of the restart. A
# kubelet reports one that it starts later as waiting, or only that it ended.
failing_kube_proxy() {
  kubectl_of_system get pods --selector k8s-app=kube-proxy --output \
    'jsonpath={range .items[*]}{.metadata.annotations.kubectl\.kubernetes\.io/restartedAt} {.metadata.name} {.spec.nodeName} {.status.containerStatuses[0].restartCount} {.status.containerStatuses[0].state.running.startedAt}{"\n"}{end}' |
    awk -v at="$1" '$1 == at && $4 >= 2 && $5 == "" { print $2, $3; exit }'
}

# Restarts kube-proxy on one node after another, and waits for it: at most 300 s for the next node. Ends when it keeps ending on
# one of them; it stays as it was on the others.
restart_kube_proxy() {
  local at former seconds failing status="" before="" deadline=$((SECONDS + 300))
  at=$(date -u +%FT%T.%NZ)
  former=$(kubectl_of_system get daemonset kube-proxy --output "jsonpath={.metadata.annotations.$KUBE_PROXY_ANNOTATION}")
  if [ -z "$former" ]; then former=$(kubectl_of_system get daemonset kube-proxy --output 'jsonpath={.spec.minReadySeconds}'); fi
  # others may write anything into the annotation
  [[ $former =~ ^(0|[1-9][0-9]{0,4})$ ]] || former=0
  seconds=$((former > KUBE_PROXY_READY_SECONDS ? former : KUBE_PROXY_READY_SECONDS))
  kubectl_of_system patch daemonset kube-proxy --type merge --patch "{\"metadata\":{\"annotations\":{\"$KUBE_PROXY_ANNOTATION\":\"$former\"}},
    \"spec\":{\"minReadySeconds\":$seconds,\"template\":{\"metadata\":{\"annotations\":{\"kubectl.kubernetes.io/restartedAt\":\"$at\"}}}}}"
  until status=$(kubectl_of_system rollout status daemonset/kube-proxy --timeout=3s | tail -n 1); do
    failing=$(failing_kube_proxy "$at")
    # of one that does not run these are its last ones; the log of the one before may be gone
    [ -z "$failing" ] ||
      fail "kube-proxy on ${failing#* } ended three times right after its start; its last words: $(kubectl_of_system logs "${failing% *}" --tail 200 | last_words). On the nodes after it, it stays as it was. Fix the value, or take it back, and run the command again" 65
    if [ "$status" != "$before" ]; then deadline=$((SECONDS + 300)); fi
    before=$status
    [ "$SECONDS" -lt "$deadline" ] || fail "kube-proxy was not restarted on every node within 300 s: $status" 75
  done
  kubectl_of_system patch daemonset kube-proxy --type merge --patch "{\"metadata\":{\"annotations\":{\"$KUBE_PROXY_ANNOTATION\":null}},\"spec\":{\"minReadySeconds\":$former}}"
}
