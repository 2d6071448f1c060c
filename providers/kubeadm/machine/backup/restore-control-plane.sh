# shellcheck shell=bash
# needs: common/etcd-programs common/stopped-control-plane
# Makes this control plane what it was in a snapshot, as the only member of etcd. Data: the archive of etcd-snapshot, gzip. A
# step that was interrupted begins again; one that has ended is not repeated until finish-restore. Its answer is empty.
# Parameters: CLUSTER, SNAPSHOT (names the snapshot), READY_SECONDS, GONE (names of the other control planes)
refuse_foreign_machine
[ -n "$claimed_by" ] ||
  fail "$MACHINE: nothing is prepared on this machine, which was reinstalled or reset since, so no snapshot can be restored there" 78

manifest=etc/kubernetes/manifests/etcd.yaml

# Prints an argument of etcd's manifest: FILE NAME.
argument() { sed -n "s/^ *- --$2=//p" "$1" 2>/dev/null | head -n 1 || true; }

# Tells whether an earlier run has restored this snapshot, and its data was not lost again since.
is_restored() {
  [ "$(cat "$RESTORED_PATH" 2>/dev/null)" = "$SNAPSHOT" ] && [ -e "$(argument "/$manifest" data-dir)/member/snap/db" ]
}

# Refuses what can't be restored here, before anything is touched, and takes the program that restores it.
check_snapshot() {
  grep -qF "{\"cluster\":\"$CLUSTER\",\"stack\":\"$OWNER_ID\",\"machine\":\"$MACHINE\"," "$SNAPSHOT_PATH/snapshot.json" ||
    fail "$MACHINE: the snapshot is one of another cluster, stack or machine"
  data=$(argument "$SNAPSHOT_PATH/$manifest" data-dir) name=$(argument "$SNAPSHOT_PATH/$manifest" name)
  peer=$(argument "$SNAPSHOT_PATH/$manifest" initial-advertise-peer-urls)
  if [ -z "$data" ] || [ -z "$name" ] || [ -z "$peer" ]; then fail "$MACHINE: the snapshot has no manifest of etcd"; fi
  # with kubeadm's mode: the step's umask
  mkdir -p "$data"
  rm -rf "$data/foresail-restored"
  refuse_full_disk "$(stat --format=%s "$SNAPSHOT_PATH/etcd.db")" "$data"
  take_etcd_programs "$(image_of "$SNAPSHOT_PATH/$manifest")" etcdutl
}

restore_etcd() {
  # informers that have seen later revisions notice that these are gone
  "$SNAPSHOT_PATH/etcdutl" snapshot restore "$SNAPSHOT_PATH/etcd.db" --data-dir "$data/foresail-restored" --name "$name" \
    --initial-cluster "$name=$peer" --initial-advertise-peer-urls "$peer" --bump-revision 1000000000 --mark-compacted
  rm -rf "$data/member"
  mv "$data/foresail-restored/member" "$data/member"
  rm -rf "$data/foresail-restored"
}

# Puts the files of the snapshot back; what the kubelet has renewed since is newer than what is in it.
restore_files_of_node() {
  local kubelet=/var/lib/kubelet file
  mkdir -p /etc/kubernetes "$kubelet/pki"
  # a link to a folder stays one
  tar -C "$SNAPSHOT_PATH/etc/kubernetes" -cf - . | tar -C /etc/kubernetes -xpf - --keep-directory-symlink
  for file in config.yaml kubeadm-flags.env; do
    if [ ! -e "$kubelet/$file" ]; then cp -a "$SNAPSHOT_PATH/var/lib/kubelet/$file" "$kubelet/$file"; fi
  done
  file=$kubelet/pki/kubelet-client-current.pem
  if [ ! -e "$file" ] && [ -e "$SNAPSHOT_PATH$file" ]; then
    # the kubelet expects a link
    install -m 0600 "$SNAPSHOT_PATH$file" "$kubelet/pki/kubelet-client-restored.pem"
    ln -sf kubelet-client-restored.pem "$file"
  fi
}

if ! is_restored; then
  # keys are nowhere but below /etc/kubernetes, also for a moment
  mkdir -p /etc/kubernetes
  use_snapshot_folder "$RESTORING_PATH"
  ln -s "$RESTORING_PATH" "$SNAPSHOT_PATH/etc"
  tar -xzpf - --keep-directory-symlink -C "$SNAPSHOT_PATH" <&5
  check_snapshot
  progress "$MACHINE: stopping what is left of its control plane"
  stop_control_plane
  restore_etcd
  restore_files_of_node
  sync
  # that of an adopted machine says so
  [ -e "$MEMBER_PATH" ] || date -u +%FT%TZ >"$MEMBER_PATH"
  printf '%s' "$SNAPSHOT" >"$RESTORED_PATH"
else
  cat >/dev/null <&5
  rm -rf "$SNAPSHOT_PATH" "$RESTORING_PATH"
fi
systemctl enable --quiet kubelet
systemctl restart kubelet
progress "$MACHINE: waiting until its API server is ready"
deadline=$((SECONDS + READY_SECONDS))
until curl --silent --fail --insecure --noproxy '*' --max-time 5 --output /dev/null https://127.0.0.1:6443/readyz; do
  [ "$SECONDS" -lt "$deadline" ] || fail "$MACHINE: its API server is not ready $READY_SECONDS seconds after etcd was restored; look at: crictl ps -a, journalctl -u kubelet; to restore the snapshot once more, remove $RESTORED_PATH there"
  sleep 1
done
# they join again as new members, and the snapshot has Nodes of the former ones
for name in "${GONE[@]}"; do
  until kubectl --kubeconfig /etc/kubernetes/admin.conf --request-timeout=30s delete node "$name" --ignore-not-found; do
    [ "$SECONDS" -lt "$deadline" ] || fail "$MACHINE: etcd is restored, but the Node $name can't be deleted; run the command again"
    sleep 1
  done
done
