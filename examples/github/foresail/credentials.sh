# shellcheck shell=bash
# Sourced: writes credentials that programs read from files into a folder that only this user can read and that goes
# when the step ends.
credentials=$(umask 077 && mktemp -d "${RUNNER_TEMP:-/tmp}/foresail.XXXXXX")
trap 'rm -rf "$credentials"' EXIT

# credential_file VARIABLE TEXT: writes the text and names its file in the variable; nothing without a text
credential_file() {
  [[ -n $2 ]] || return 0
  (umask 077 && printf '%s\n' "$2" >"$credentials/$1")
  export "$1=$credentials/$1"
}
credential_file OS_CLIENT_CONFIG_FILE "${CLOUDS_YAML:-}"
credential_file FORESAIL_READER_KUBECONFIG "${READER_KUBECONFIG:-}"
unset CLOUDS_YAML READER_KUBECONFIG
