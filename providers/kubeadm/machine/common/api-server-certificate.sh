# shellcheck shell=bash
# The certificate of this machine's API server, with the names by which clients reach it.
# Parameters: REMOVED_NAMES (names that were configured before and are not any more)

# Prints the names in a certificate, one a line: FILE.
names_in() {
  openssl x509 -noout -ext subjectAltName -in "$1" | tr ',' '\n' | sed -nE 's/^ *(DNS|IP Address):([^ ]+) *$/\2/p' | sort -u
}

# Prints the certSANs of a kubeadm configuration, one a line: FILE.
configured_names() {
  awk '/^[^ ]/ { inside = /^apiServer:/; list = 0; next }
    inside && /^  [^ -]/ { list = /^  certSANs:/; next }
    inside && list' "$1" | sed -nE "s/^ *- *[\"']?([^\"' ]+).*/\1/p"
}

# Prints a kubeadm configuration with these certSANs alone of its API server, and with a folder for certificates:
# FILE FOLDER NAME,NAME...
with_names() {
  awk -v folder="$2" -v names="$3" '/^certificatesDir:/ { next }
    /^[^ ]/ { inside = /^apiServer:/ }
    inside { next }
    { print }
    /^kind: ClusterConfiguration$/ {
      print "certificatesDir: " folder "\napiServer:\n  certSANs:"
      count = split(names, name, ",")
      for (at = 1; at <= count; at++) print "  - \"" name[at] "\""
    }' "$1"
}

# Lets kubeadm create a certificate and its key for this API server: FOLDER CONFIGURATION. It has the names of the configuration
# and those of the certificate that is there, as when kubeadm renews it. Writes into the folder alone.
create_certificate() {
  local pki=/etc/kubernetes/pki current names missing
  grep -qsE "^ *- --tls-cert-file=$pki/apiserver.crt\$" /etc/kubernetes/manifests/kube-apiserver.yaml ||
    fail "the API server of this machine has another certificate than kubeadm's, $pki/apiserver.crt" 65
  [ -e "$pki/ca.key" ] || fail "this machine has no $pki/ca.key, which signs the certificate of its API server" 65
  current=$(names_in "$pki/apiserver.crt") || fail "openssl can't read the names in $pki/apiserver.crt" 65
  ln -s "$pki/ca.crt" "$pki/ca.key" "$1"
  names=$({ grep -vxF -f <(printf '%s\n' "${REMOVED_NAMES[@]}") <<<"$current"; configured_names "$2"; } | sort -u)
  with_names "$2" "$1" "$(paste --serial --delimiters , <<<"$names")" >"$1/kubeadm.yaml"
  timeout 60 env --ignore-environment PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    kubeadm init phase certs apiserver --config "$1/kubeadm.yaml" >"$1/log" 2>&1 ||
    fail "kubeadm init phase certs apiserver: $(tail -n 1 "$1/log")" 65
  missing=$(comm -23 <(printf '%s\n' "$names") <(names_in "$1/apiserver.crt") | xargs)
  [ -z "$missing" ] || fail "kubeadm wrote a certificate without these names: $missing" 65
}
