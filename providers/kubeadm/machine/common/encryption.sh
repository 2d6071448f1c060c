# shellcheck shell=bash
# The keys for Secrets at rest: a file on every control plane, which its API server reads when it starts. The first key
# encrypts, every key decrypts. A key is never an argument of a program.

# Prints "name key" for each key of a configuration, in order: FILE.
encryption_keys() { awk '$1 == "-" && $2 == "name:" { name = $3 } $1 == "secret:" { print name, $2 }' "$1"; }

# Prints this machine's key with a name; nothing without one: NAME.
encryption_key() { encryption_keys "$ENCRYPTION_PATH" | awk -v name="$1" '$1 == name { print $2 }'; }

new_encryption_key() { head -c 32 /dev/urandom | base64 -w 0; }

# Writes the configuration with the keys on standard input, "name key" in each line, unless it has exactly these.
write_encryption() {
  local name key new=$ENCRYPTION_PATH.new
  mkdir -p "$(dirname "$ENCRYPTION_PATH")"
  {
    cat <<'YAML'
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
  - resources: [secrets]
    providers:
      - secretbox:
          keys:
YAML
    while read -r name key; do printf '            - name: %s\n              secret: %s\n' "$name" "$key"; done
    echo "      - identity: {}"
  } >"$new"
  if cmp --silent "$new" "$ENCRYPTION_PATH"; then
    rm -f "$new"
  else
    # what is encrypted with a key that a power cut takes away is lost
    sync "$new"
    mv -f "$new" "$ENCRYPTION_PATH"
  fi
}

# Prints the path of the configuration that the running API server has read; nothing while none runs. Its container
# keeps the file of its start, also when another one has taken its place. A nested cluster's API server has no such file.
loaded_encryption() {
  local names file
  while read -r names; do
    file=${names%/comm}/root$ENCRYPTION_PATH
    if [ -e "$file" ]; then
      echo "$file"
      return 0
    fi
  done < <(grep -lx kube-apiserver /proc/[0-9]*/comm 2>/dev/null)
}

is_encryption_loaded() { [ "$ENCRYPTION_PATH" -ef "$(loaded_encryption)" ]; }
