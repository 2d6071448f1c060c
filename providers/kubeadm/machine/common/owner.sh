# shellcheck shell=bash
# Says whose machine this is. Parameters: MACHINE, OWNER (the names in the mark of a machine of this cluster); and from the
# run: OWNER_ID, OWNER_STACK (the stack that runs the step; empty in runs of state without an identity), TAKE_OVER (the
# former owner's identity, or "unmarked" for marks of earlier releases; empty for none)

# Reads the mark. Sets claimed_by (its text, printable; empty without a mark), claimed_names, and claimed_id and
# claimed_stack (empty in the mark of an earlier release).
read_mark() {
  local mark
  mark=$(head -c 1024 "$MARKER_PATH" 2>/dev/null | tr -d '\000' || true)
  claimed_by=$(tr -c '[:print:]' '?' <<<"${mark:0:300}" | sed 's/?$//')
  claimed_names=$mark claimed_id="" claimed_stack=""
  if [[ $mark =~ ^cluster=[a-z0-9-]+\ machine=[a-z0-9.-]+\ stack=[A-Za-z0-9_./-]+\ id=[0-9a-f-]{36}$ ]]; then
    claimed_names=${mark%% stack=*} claimed_id=${mark##* id=}
    claimed_stack=${mark##* stack=}
    claimed_stack=${claimed_stack%% id=*}
  fi
}

# Refuses the mark of another cluster, another machine or another stack. The mark of an earlier release names no stack.
refuse_foreign_mark() {
  read_mark
  [ -n "$claimed_by" ] || return 0
  [ "$claimed_names" = "$OWNER" ] ||
    fail "$MACHINE: this machine belongs to another foresail cluster or carries another name ($claimed_by); take it out of that one first, or remove $MARKER_PATH if that cluster is gone" 78
  if [ -z "$claimed_id" ] || [ "$claimed_id" = "$OWNER_ID" ] || [ "$claimed_id" = "$TAKE_OVER" ]; then return 0; fi
  fail "$MACHINE: this machine belongs to the stack $claimed_stack ($claimed_id); nothing of it was changed. Destroy or release it there, or take it over with takeOver: $claimed_id" 78
}

# Refuses a mark of an earlier release, for a step that must not guess whose it is.
refuse_unnamed_owner() {
  [ -z "$claimed_by" ] || [ -n "$claimed_id" ] || [ -z "$OWNER_ID" ] || [ "$TAKE_OVER" = unmarked ] ||
    fail "$MACHINE: an earlier release of foresail marked this machine ($claimed_by), which did not record the stack, and this stack does not have it in its state; destroy or release it with the stack that has it, or take it over with takeOver: unmarked" 78
}

# Refuses a machine with Kubernetes files which foresail did not create for this cluster: foresail never wipes a cluster
# that it did not create. Exit code 78, with the machine's name in the message. Sets `claimed_by`.
refuse_foreign_machine() {
  refuse_foreign_mark
  if [ -n "$claimed_by" ]; then return 0; fi
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

# Writes the mark, which names the stack if it is known. Atomic: a mark that is cut off would belong to no stack.
write_mark() {
  printf '%s%s\n' "$OWNER" "${OWNER_ID:+ stack=$OWNER_STACK id=$OWNER_ID}" >"$MARKER_PATH.new"
  mv -f "$MARKER_PATH.new" "$MARKER_PATH"
}

# Claims the machine for this cluster, and removes backups left by an earlier reset of foresail.
claim_machine() {
  if [ -z "$claimed_by" ]; then rm -rf "$BACKUPS_PATH"; fi
  write_mark
}
