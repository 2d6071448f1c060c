# shellcheck shell=bash
# Another endpoint, by which nodes reach the API servers.
# Parameters: ENDPOINT (host:port), FORMER_ENDPOINTS (those that nodes had before; empty as long as it has never changed)

# The files in which kubeadm writes it.
kubeconfigs=(/etc/kubernetes/{admin,super-admin,controller-manager,scheduler,kubelet}.conf)

# Prints a kubeconfig with the endpoint in the place of former ones: FILE.
with_endpoint() {
  awk -v endpoint="https://$ENDPOINT" -v formers="${FORMER_ENDPOINTS[*]}" 'BEGIN { count = split(formers, former, " ") }
    /^ *server: / {
      server = $2
      gsub(/["\047]/, "", server)
      for (at = 1; at <= count; at++) if (server == "https://" former[at]) sub(/server: .*/, "server: " endpoint)
    }
    { print }' "$1"
}

# Tells whether a program of a control plane uses the API server of its own machine, which may be a former endpoint: FILE.
# kubeadm gives administrators the endpoint, also there.
is_local() {
  local own
  own=$(sed -n 's|^ *kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint: *||p' /etc/kubernetes/manifests/kube-apiserver.yaml 2>/dev/null) || return 1
  [[ $1 != *admin.conf ]] && grep -qxE " *server: \"?https://${own//./\\.}\"?" "$1"
}

# Lists the kubeconfigs of this machine that have a former endpoint.
list_moving() {
  local path
  for path in "${kubeconfigs[@]}"; do
    if [ -f "$path" ] && ! is_local "$path" && ! with_endpoint "$path" | cmp --silent - "$path"; then printf '%s\n' "$path"; fi
  done
}
