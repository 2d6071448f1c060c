# shellcheck shell=bash

# Stops the kubelet and the programs of the control plane, so that nothing of it answers or writes any more.
stop_control_plane() {
  local name id ids
  systemctl stop kubelet 2>/dev/null || true
  for name in kube-apiserver kube-controller-manager kube-scheduler etcd; do
    ids=$(ctr --namespace k8s.io containers list --quiet \
      "labels.\"io.kubernetes.pod.namespace\"==kube-system,labels.\"io.kubernetes.container.name\"==$name")
    for id in $ids; do
      # one that has ended already is not there
      ctr --namespace k8s.io tasks kill --signal SIGKILL "$id" 2>/dev/null || true
    done
  done
  timeout 60 bash -c 'while ss --listening --tcp --numeric | grep -qE ":(6443|2379|2380) "; do sleep 0.5; done' ||
    fail "$MACHINE: the API server or etcd still listens 60 seconds after it was stopped"
}
