# shellcheck shell=bash
# What kubeadm init and join have in common.

# Undoes what a killed init or join left on a machine of this cluster that is not a member. Only kubeadm's own files count:
# the configuration may have put other files next to them.
clear_half_made() {
  if [ -n "$(find /etc/kubernetes/{manifests,pki} /etc/kubernetes/{admin,super-admin,kubelet,bootstrap-kubelet,controller-manager,scheduler}.conf -type f -print -quit 2>/dev/null)" ]; then
    kubeadm reset --force --skip-phases=remove-etcd-member
  fi
  rm -rf /var/lib/etcd/member
}

# Marks the machine as a member; from then on, init, join and prepare do nothing on it.
mark_member() { date -u +%FT%TZ >"$MEMBER_PATH"; }
