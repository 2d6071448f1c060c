# shellcheck shell=bash
# needs: common/encryption
# Gives a control plane these encryption keys in this order, and restarts its API server unless it has read them. Data:
# the base64 text of the key that this machine does not have; without it, the machine makes a key only if it may.
# Parameters: KEYS (names), MAY_CREATE (yes or no), LOAD_SECONDS

# Restarts the API server unless it has read the current configuration, and waits until it is ready.
load_encryption() {
  local manifest=/etc/kubernetes/manifests/kube-apiserver.yaml new=/etc/kubernetes/.foresail-kube-apiserver.yaml
  local restarted deadline=$((SECONDS + LOAD_SECONDS))
  restarted="foresail/restarted-at: \"$(date -u +%FT%TZ)\""
  if ! is_encryption_loaded; then
    # the kubelet makes the pod again when its manifest differs
    sed -e '/^    foresail\/restarted-at: /d' -e "s|^  annotations:\$|&\n    $restarted|" "$manifest" >"$new"
    grep -qF "$restarted" "$new" || fail "$MACHINE: $manifest has no annotations, so the API server can't be restarted through it"
    mv -f "$new" "$manifest"
  fi
  until is_encryption_loaded && curl --silent --fail --insecure --max-time 5 --output /dev/null https://127.0.0.1:6443/readyz; do
    [ "$SECONDS" -lt "$deadline" ] || fail "$MACHINE: the API server is not ready with its encryption keys after $LOAD_SECONDS seconds"
    sleep 1
  done
}

refuse_foreign_machine
read -r given <&5 || true
lines=()
for name in "${KEYS[@]}"; do
  key=$(encryption_key "$name")
  if [ -z "$key" ]; then key=$given; fi
  if [ -z "$key" ] && [ "$MAY_CREATE" = yes ]; then key=$(new_encryption_key); fi
  [ -n "$key" ] || fail "$MACHINE: has no encryption key $name"
  lines+=("$name $key")
done
printf '%s\n' "${lines[@]}" | write_encryption
load_encryption
