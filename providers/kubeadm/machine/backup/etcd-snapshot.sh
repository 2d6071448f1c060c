# shellcheck shell=bash
# needs: common/etcd common/etcd-programs
# Takes a snapshot of etcd and verifies it. Answers its facts as JSON in one line, then a base64 archive, which is secret: the
# snapshot, those facts, and the files of this control plane.
# Parameters: CLUSTER

# Prints the version in the name of an image: IMAGE; "unknown" for one that only has a digest.
version_of() {
  local name=${1##*/}
  if [[ ${name%%@*} =~ [0-9]+\.[0-9]+\.[0-9]+ ]]; then echo "${BASH_REMATCH[0]}"; else echo unknown; fi
}

refuse_foreign_machine
manifest=/etc/kubernetes/manifests/etcd.yaml
[ -e "$manifest" ] || fail "$MACHINE: runs no etcd of its own ($manifest is missing), so no snapshot can be taken there"
use_snapshot_folder
size=$(etcd --data '{}' https://127.0.0.1:2379/v3/maintenance/status | grep -o '"dbSize":"[0-9]*"' | grep -o '[0-9]*') ||
  fail "$MACHINE: etcd gives no answer on this machine"
refuse_full_disk "$size"
take_etcd_programs "$(image_of "$manifest")" etcdctl etcdutl
"$SNAPSHOT_PATH/etcdctl" --endpoints https://127.0.0.1:2379 --cacert /etc/kubernetes/pki/etcd/ca.crt \
  --cert /etc/kubernetes/pki/apiserver-etcd-client.crt --key /etc/kubernetes/pki/apiserver-etcd-client.key \
  snapshot save "$SNAPSHOT_PATH/etcd.db"
status=$("$SNAPSHOT_PATH/etcdutl" snapshot status "$SNAPSHOT_PATH/etcd.db" --write-out json) ||
  fail "$MACHINE: etcdutl does not accept the snapshot"
fact() { grep -o "\"$1\":[0-9]*" <<<"$status" | cut -d : -f 2; }
version=$(version_of "$(image_of /etc/kubernetes/manifests/kube-apiserver.yaml)")
printf '{"cluster":"%s","stack":"%s","machine":"%s","taken":"%s","version":"%s","revision":%s,"hash":%s,"keys":%s,"bytes":%s}\n' \
  "$CLUSTER" "$OWNER_ID" "$MACHINE" "$(date -u +%FT%TZ)" "$version" "$(fact revision)" "$(fact hash)" "$(fact totalKey)" "$(fact totalSize)" \
  >"$SNAPSHOT_PATH/snapshot.json"
rm "$SNAPSHOT_PATH"/etcd{ctl,utl}
cat "$SNAPSHOT_PATH/snapshot.json" >&4
files=(etc/kubernetes)
for path in var/lib/kubelet/{config.yaml,kubeadm-flags.env} var/lib/kubelet/pki/kubelet-client-current.pem; do
  if [ -e "/$path" ]; then files+=("$path"); fi
done
# the kubelet's current certificate is a link
tar -C "$SNAPSHOT_PATH" -cf - etcd.db snapshot.json -C / --exclude=etc/kubernetes/tmp --exclude=etc/kubernetes/.foresail-restore --dereference "${files[@]}" | gzip -1 | base64 -w 0 >&4
