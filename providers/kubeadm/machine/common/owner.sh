# shellcheck shell=bash
# Says whose machine this is. Parameters: MACHINE, OWNER (what the marker contains on a machine of this cluster)

# Refuses a machine with Kubernetes files which foresail did not create for this cluster: foresail never wipes a cluster
# that it did not create. Exit code 78, with the machine's name in the message. Sets `claimed_by`.
refuse_foreign_machine() {
  claimed_by=$(cat "$MARKER_PATH" 2>/dev/null || true)
  if [ -n "$claimed_by" ]; then
    [ "$claimed_by" = "$OWNER" ] ||
      fail "$MACHINE: this machine belongs to another foresail cluster or carries another name ($claimed_by); take it out of that one first, or remove $MARKER_PATH if that cluster is gone" 78
    return 0
  fi
  if [ -n "$(find /etc/kubernetes -path "$BACKUPS_PATH" -prune -o -type f -print -quit 2>/dev/null)" ]; then
    fail "$MACHINE: /etc/kubernetes contains files that foresail did not create; it never wipes a cluster it did not create. If nothing on this machine is needed, run there: kubeadm reset --force; rm -rf /etc/kubernetes/*" 78
  fi
  if [ -n "$(find "$BACKUPS_PATH" -type f -print -quit 2>/dev/null)" ] && ! backups_are_left_by_reset; then
    fail "$MACHINE: $BACKUPS_PATH contains backups that kubeadm made of another cluster, which may contain a copy of its etcd. If you don't need them, run there: rm -rf $BACKUPS_PATH" 78
  fi
}

# Tells whether kubeadm's backups are left over from an earlier foresail, whose reset ran after they were made.
backups_are_left_by_reset() {
  grep -qs ' reset ended with 0$' "$LOGS_PATH/reset.log" &&
    [ -z "$(find "$BACKUPS_PATH" -newer "$LOGS_PATH/reset.log" -print -quit)" ]
}

# Claims the machine for this cluster, and removes backups left by an earlier reset of foresail.
claim_machine() {
  if [ -z "$claimed_by" ]; then rm -rf "$BACKUPS_PATH"; fi
  printf '%s\n' "$OWNER" >"$MARKER_PATH"
}
