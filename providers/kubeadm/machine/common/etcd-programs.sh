# shellcheck shell=bash
# etcdctl and etcdutl of the release that the machine's etcd has. They are in its image, which has no shell, so that they are
# copied from there; a machine may have its own instead.

# Makes the folder of a snapshot, and others, for this step alone: etcd's data is in it in plain text. FOLDER...
use_snapshot_folder() {
  snapshot_folders=("$SNAPSHOT_PATH" "$@")
  # a killed step leaves them
  rm -rf "$SNAPSHOT_PATH" "$RESTORING_PATH"
  mkdir -m 0700 "${snapshot_folders[@]}"
  trap 'end_snapshot $? "$BASH_COMMAND"' EXIT
}

end_snapshot() {
  rm -rf "${snapshot_folders[@]}"
  end_step "$@"
}

# Prints the image of a manifest: FILE.
image_of() { sed -n 's/^ *image: //p' "$1" | head -n 1; }

# Ends the mount of etcd's image, and nothing where there is none.
unmount_etcd_image() {
  ctr --namespace k8s.io images unmount --rm "$ETCD_IMAGE_PATH" >/dev/null 2>&1 || true
  if mountpoint -q "$ETCD_IMAGE_PATH"; then umount --lazy "$ETCD_IMAGE_PATH" || true; fi
  rmdir "$ETCD_IMAGE_PATH" 2>/dev/null || true
}

# Copies these programs into the folder of the snapshot: IMAGE NAME...
take_etcd_programs() {
  local image=$1 name words
  shift
  # a killed step leaves it mounted
  unmount_etcd_image
  mkdir -p "$ETCD_IMAGE_PATH"
  words=$(ctr --namespace k8s.io images mount "$image" "$ETCD_IMAGE_PATH" 2>&1) || words="$image can't be read: $words"
  # the step has an end of its own
  (
    trap unmount_etcd_image EXIT
    for name in "$@"; do
      program=$ETCD_IMAGE_PATH/usr/local/bin/$name
      if [ ! -e "$program" ]; then program=$(command -v "$name" || true); fi
      if [ -n "$program" ]; then install -m 0700 "$program" "$SNAPSHOT_PATH/$name"; fi
    done
  )
  for name in "$@"; do
    [ -x "$SNAPSHOT_PATH/$name" ] ||
      fail "$MACHINE: neither the image $image nor the machine has $name (${words##*$'\n'}); install it there, for example from the package etcd-client"
  done
}

# Refuses a disk on which a file of this size would leave too little space: BYTES [FOLDER].
refuse_full_disk() {
  local free folder=${2:-$SNAPSHOT_PATH}
  free=$(df --output=avail --block-size=1 "$folder" | tail -n 1)
  [ "$free" -gt $(($1 + 512 * 1024 * 1024)) ] ||
    fail "$MACHINE: a snapshot takes $(($1 / 1048576)) MiB, and $((free / 1048576)) MiB are free on the disk of $folder; 512 MiB have to stay free"
}
