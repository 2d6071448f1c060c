# shellcheck shell=bash
# needs: common/system common/owner common/authority
# Reads whether this machine can move to another endpoint of the API servers. Writes only into a folder in memory.
# Answers lines "name base64": `unreached` and `unnamed` have the reason if it can't, `kubeProxy` is yes or no on a control
# plane. Parameters, besides those of common/owner: ENDPOINT (host:port)
set -euo pipefail
umask 077
export LC_ALL=C
refuse_foreign_machine >&2
folder=$(mktemp --directory /run/foresail-endpoint.XXXXXXXX)
trap 'rm -rf "$folder"' EXIT
authority >"$folder/ca.crt"

answer() { printf '%s %s\n' "$1" "$(printf '%s' "$2" | base64 --wrap 0)"; }

# Prints why no API server with a certificate of the cluster's authority for the endpoint answers, or nothing: OPTION...
# One that admits no anonymous requests answers, too.
refusal() {
  local status
  status=$(curl --silent --show-error --noproxy '*' --max-time 5 --retry 2 --cacert "$folder/ca.crt" --write-out '%{http_code}' \
    --output /dev/null "$@" "https://$ENDPOINT/readyz" 2>"$folder/why") || { tail -n 1 "$folder/why"; return 0; }
  case $status in 200 | 401 | 403) ;; *) echo "it answers with status $status" ;; esac
}

answer unreached "$(refusal)"
if [ -e /etc/kubernetes/manifests/kube-apiserver.yaml ]; then
  answer unnamed "$(refusal --connect-to ::127.0.0.1:6443)"
  if found=$(kubectl --kubeconfig /etc/kubernetes/admin.conf --request-timeout=10s --cache-dir="$folder/cache" --namespace kube-system \
    get daemonset kube-proxy --ignore-not-found --output name); then
    answer kubeProxy "$([ -n "$found" ] && echo yes || echo no)"
  fi
fi
