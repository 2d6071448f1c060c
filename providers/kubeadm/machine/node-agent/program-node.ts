/** The part of the agent that writes to the journal, and to its own Node with the kubelet's credentials. */
export const NODE_ACCESS = `
say() { printf '%s\\n' "$*"; }

# Does a step and says so. A dry run only says it.
act() {
  if [ "$mode" = dry-run ]; then say "would $1"; return 0; fi
  say "$1"
  shift
  "$@"
}

kubectl_as_kubelet() { kubectl --kubeconfig "$kubernetes/kubelet.conf" --request-timeout=20s "$@"; }

# Right after an API server has started, RBAC answers Forbidden to everybody: whatever goes wrong here is "not yet".
not_yet=""
wait_for_api() {
  local why
  why=$(tail -n 1 "$words" 2>/dev/null || true)
  if [ "$why" != "$not_yet" ]; then say "the API server does not answer yet: $why" >&2; fi
  not_yet=$why
}

# Reads the annotations of this Node. Values come quoted, so that none can pretend to be a line of its own.
declare -A annotation
read_node() {
  local lines key value
  lines=$(kubectl_as_kubelet get node "$node" --output \\
    'go-template={{range $key, $value := .metadata.annotations}}{{$key}} {{printf "%q" $value}}{{"\\n"}}{{end}}' 2>"$words") || { wait_for_api; return 1; }
  not_yet=""
  annotation=()
  while read -r key value; do
    if [[ $value == '"'*'"' ]]; then annotation[$key]=\${value:1:-1}; fi
  done <<<"$lines"
}

# What is to be written to the Node; only what differs.
changes=()
note() { if [ "\${annotation[$1]-}" != "$2" ]; then changes+=("$1=$2"); fi; }
forget() { if [ -n "\${annotation[$1]+there}" ]; then changes+=("$1-"); fi; }

# Writes what was noted, all in one write, and tries for two minutes.
publish() {
  local attempt one
  if [ \${#changes[@]} -eq 0 ]; then return 0; fi
  if [ "$mode" = dry-run ]; then say "would write \${changes[*]}"; changes=(); return 0; fi
  for attempt in $(seq 60); do
    if kubectl_as_kubelet annotate node "$node" --overwrite --field-manager=foresail-node-agent "\${changes[@]}" >/dev/null 2>"$words"; then
      for one in "\${changes[@]}"; do if [[ $one == *=* ]]; then annotation[\${one%%=*}]=\${one#*=}; else unset "annotation[\${one%-}]"; fi; done
      not_yet="" changes=()
      return 0
    fi
    wait_for_api
    pause 2
  done
  say "the annotations could not be written within two minutes: $(tail -n 1 "$words")"
  return 1
}

pause() { if [ "$retry_seconds" != 0 ]; then sleep "$1"; fi; }

# Sleeps until the Node changes, but no longer than the given seconds.
watching=""
wait_for_change() {
  if [ -z "$watching" ]; then
    exec 7< <(exec kubectl --kubeconfig "$kubernetes/kubelet.conf" get nodes --field-selector "metadata.name=$node" --watch \\
      --output 'go-template={{.metadata.resourceVersion}}{{"\\n"}}' 2>/dev/null 8>&- 9>&-)
    watching=$!
  fi
  if read -r -t "$1" -u 7; then
    while read -r -t 0.1 -u 7; do :; done
  elif [ $? -le 128 ]; then
    # the watch has ended, as watches do
    stop_watching
    pause 2
  fi
}
stop_watching() {
  if [ -z "$watching" ]; then return 0; fi
  kill "$watching" 2>/dev/null || true
  exec 7<&-
  watching=""
}`.trim();
