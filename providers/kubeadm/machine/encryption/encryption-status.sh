# shellcheck shell=bash
# needs: common/encryption
# Reads which encryption keys a control plane has. Answers lines "file NAME FINGERPRINT" for its configuration and "loaded
# NAME FINGERPRINT" for what its running API server has read, in order.

# Prints the lines of a configuration: SOURCE FILE.
describe_keys() {
  local name key
  while read -r name key; do
    printf '%s %s %s\n' "$1" "$name" "$(printf '%s' "$key" | sha256sum | cut -c 1-12)"
  done < <(encryption_keys "$2")
}

refuse_foreign_machine
[ -e "$ENCRYPTION_PATH" ] || fail "$MACHINE: there is no $ENCRYPTION_PATH, so its API server does not encrypt Secrets"
describe_keys file "$ENCRYPTION_PATH" >&4
loaded=$(loaded_encryption)
if [ -n "$loaded" ]; then describe_keys loaded "$loaded" >&4; fi
