# shellcheck shell=bash
# Takes what makes this machine a member from it, so that its next join clears the rest and begins again: it was given up while it
# did not answer, and neither the cluster nor etcd has it any more.
refuse_foreign_machine
systemctl stop kubelet
rm -f /etc/kubernetes/kubelet.conf
