# shellcheck shell=bash
# Tells what is left of a control plane. Answers lines: "api" when its API server is ready and would be after a restart,
# "restored SNAPSHOT" while a restore is not finished and its data is there, "prepared" on a machine of the cluster, "programs"
# when etcdutl is there or an image that has it, "fits BYTES" for the largest snapshot for which there is space.
refuse_foreign_machine
data=$(sed -n 's/^ *- --data-dir=//p' /etc/kubernetes/manifests/etcd.yaml 2>/dev/null | head -n 1 || true)

# Prints the free bytes of a folder's disk: FOLDER.
free_bytes() { df --output=avail --block-size=1 "$1" | tail -n 1; }

# Tells whether etcdutl is there, or the image of etcd, which has it.
has_etcd_programs() {
  local images
  if command -v etcdutl >/dev/null; then return 0; fi
  images=$(ctr --namespace k8s.io images list --quiet 2>/dev/null || true)
  grep -qE 'etcd[^/]*$' <<<"$images"
}

# Prints the size of the largest snapshot that leaves 512 MiB free. It is unpacked, and restored beside what is there.
largest_snapshot() {
  local folder=${data:-/var/lib/etcd} free other
  until [ -e "$folder" ]; do folder=$(dirname "$folder"); done
  free=$(free_bytes /var/lib/foresail) other=$(free_bytes "$folder")
  if [ "$(stat --format=%d "$folder")" = "$(stat --format=%d /var/lib/foresail)" ]; then
    free=$(((free - 512 * 1024 * 1024) / 2))
  else
    free=$(((free < other ? free : other) - 512 * 1024 * 1024))
  fi
  echo "$((free < 0 ? 0 : free))"
}

# programs whose files were removed go on until they end
if [ -n "$data" ] && [ -e "$data/member/snap/db" ]; then
  if curl --silent --fail --insecure --noproxy '*' --max-time 5 --output /dev/null https://127.0.0.1:6443/readyz; then echo api >&4; fi
  if [ -e "$RESTORED_PATH" ]; then echo "restored $(tr -cd '[:print:]' <"$RESTORED_PATH")" >&4; fi
fi
if [ -n "$claimed_by" ]; then echo prepared >&4; fi
if has_etcd_programs; then echo programs >&4; fi
echo "fits $(largest_snapshot)" >&4
