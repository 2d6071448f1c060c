# shellcheck shell=bash
# Refuses a machine that has no space for images, pods and etcd's data: the kubelet would evict pods, and a join would fail
# halfway. Parameters: MACHINE, DATA_PATHS (folders that may not exist yet), LEAST_MEBIBYTES
refuse_full_disks() {
  local path folder free
  for path in "${DATA_PATHS[@]}"; do
    folder=$path
    until [ -d "$folder/" ]; do folder=${folder%/*}; done
    free=$(df --block-size=1M --output=avail "$folder/" | tail -n 1)
    if [ "$free" -lt "$LEAST_MEBIBYTES" ]; then
      fail "$MACHINE: $path has $((free)) MiB of free space, and a node needs $LEAST_MEBIBYTES MiB there. Nothing was changed. Free space or enlarge the disk (df -h $folder), then run the command again" 78
    fi
  done
}
