# shellcheck shell=bash
# The static pods of a control plane. Parameters: ROOT (a folder that replaces / in tests)

# Prints the processes of a static pod, whose names the kernel cuts: NAME.
processes_of() { grep -lx "${1:0:15}" "$ROOT"/proc/[0-9]*/comm 2>/dev/null | sort; }

# Marks a manifest with the time, since the kubelet makes a pod again when its manifest differs: FILE.
mark_for_restart() {
  local restarted
  restarted="foresail/restarted-at: \"$(date -u +%FT%TZ)\""
  sed -i '/^    foresail\/restarted-at: /d' "$1"
  if grep -q '^  annotations:$' "$1"; then
    sed -i "s|^  annotations:\$|&\n    $restarted|" "$1"
  else
    sed -i "s|^metadata:\$|&\n  annotations:\n    $restarted|" "$1"
  fi
}

# Prints the value of an argument of a static pod: NAME ARGUMENT.
argument_of() { sed -n "s/^ *- --$2=//p" "$ROOT/etc/kubernetes/manifests/$1.yaml" 2>/dev/null | tail -n 1; }

is_static_pod_healthy() {
  local address port
  address=$(argument_of "$1" bind-address)
  port=$(argument_of "$1" secure-port)
  # it serves nothing then
  if [ "$port" = 0 ]; then return 0; fi
  case $address in "" | 0.0.0.0) address=127.0.0.1 ;; *:*) address="[$address]" ;; esac
  local -A health=([etcd]=http://127.0.0.1:2381/health [kube-apiserver]=https://127.0.0.1:6443/readyz
    [kube-controller-manager]=https://$address:${port:-10257}/healthz [kube-scheduler]=https://$address:${port:-10259}/healthz)
  curl --silent --fail --insecure --noproxy '*' --max-time 5 --output /dev/null "${health[$1]}"
}
