# shellcheck shell=bash
# needs: common/stopped-control-plane
# Takes a control plane out of service for good, before another one is restored from a snapshot: its API server and etcd would
# go on with what the restored cluster does not have. The next `up` joins it again, which removes its data.
refuse_foreign_machine
# one that was reinstalled runs nothing
command -v ctr >/dev/null || exit 0
stop_control_plane
rm -f /etc/kubernetes/manifests/{kube-apiserver,kube-controller-manager,kube-scheduler,etcd}.yaml /etc/kubernetes/kubelet.conf
