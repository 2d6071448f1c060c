# shellcheck shell=bash
# needs: common/etcd
# Counts the Secrets in etcd that another key than this one encrypts, or none. Answers their number.
# Parameters: KEY (its name)
refuse_foreign_machine
manifest=/etc/kubernetes/manifests/kube-apiserver.yaml page=$SCRATCH_PATH/secrets.json
prefix=$(sed -n 's/^ *- --etcd-prefix=//p' "$manifest")
prefix=${prefix:-/registry}
first=$(printf '%s' "$prefix/secrets/" | base64 -w 0)
end=$(printf '%s' "$prefix/secrets0" | base64 -w 0)
stale=0
while [ -n "$first" ]; do
  etcd --data "{\"key\":\"$first\",\"range_end\":\"$end\",\"limit\":50}" https://127.0.0.1:2379/v3/kv/range >"$page"
  all=$({ grep -o '"value":"' "$page" || true; } | wc -l)
  # 64 characters are the first 48 bytes of a value
  current=$({ grep -o '"value":"[^"]\{64\}' "$page" || true; } | cut -c 10- | base64 -d | { grep -aoF "k8s:enc:secretbox:v1:$KEY:" || true; } | wc -l)
  stale=$((stale + all - current))
  last=$({ grep -o '"key":"[^"]*"' "$page" || true; } | tail -n 1 | cut -d '"' -f 4)
  first=""
  # the next page begins right after the last key
  if grep -q '"more":true' "$page"; then first=$({ printf '%s' "$last" | base64 -d; printf '\0'; } | base64 -w 0); fi
done
echo "$stale" >&4
