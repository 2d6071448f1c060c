# shellcheck shell=bash disable=SC2034,SC2154,SC2317 # parts of one program
kubectl_as_kubelet() { kubectl --kubeconfig "$kubernetes/kubelet.conf" --request-timeout=20s "$@"; }

# Right after an API server has started, RBAC answers Forbidden to everyone, so every error here means "not yet".
not_yet=""
wait_for_api() {
  local why
  why=$(tail -n 1 "$output" 2>/dev/null || true)
  if [ "$why" != "$not_yet" ]; then say "the API server does not answer yet: $why" >&2; fi
  not_yet=$why
}

# Prints the annotations of a Node, one a line. Values come quoted, so that none can look like a line of its own.
# shellcheck disable=SC2016 # a Go template
annotations_template='{{range $key, $value := .metadata.annotations}}{{$key}} {{printf "%q" $value}}{{"\n"}}{{end}}'

# The annotations of this Node as they were last read or written.
declare -A annotation
is_read=no
read_node() {
  local lines key value
  lines=$(kubectl_as_kubelet get node "$node" --output "go-template=$annotations_template" 2>"$output") || { wait_for_api; return 1; }
  not_yet=""
  annotation=()
  while read -r key value; do
    if [[ $value == '"'*'"' ]]; then annotation[$key]=${value:1:-1}; fi
  done <<<"$lines"
}

# Collects what to write to the Node, which is only what differs.
changes=()
note() { if [ "${annotation[$1]-}" != "$2" ]; then changes+=("$1=$2"); fi; }
forget() { if [ -n "${annotation[$1]+there}" ]; then changes+=("$1-"); fi; }

# Writes what was collected in one request, and retries for two minutes.
publish() {
  local one
  if [ ${#changes[@]} -eq 0 ]; then return 0; fi
  if [ "$mode" = dry-run ]; then say "would write ${changes[*]}"; changes=(); return 0; fi
  for _ in $(seq 60); do
    if kubectl_as_kubelet annotate node "$node" --overwrite --field-manager=foresail-node-agent "${changes[@]}" >/dev/null 2>"$output"; then
      for one in "${changes[@]}"; do if [[ $one == *=* ]]; then annotation[${one%%=*}]=${one#*=}; else unset "annotation[${one%-}]"; fi; done
      not_yet="" changes=()
      return 0
    fi
    wait_for_api
    pause 2
  done
  say "the annotations could not be written within two minutes: $(tail -n 1 "$output")"
  return 1
}

# A join starts the agent before kubeadm writes its files, which are not drift.
await_membership() { until [ -e "$ROOT$MEMBER_PATH" ]; do sleep 0.2; done; }

pause() { if [ "$retry_seconds" != 0 ]; then sleep "$1"; fi; }

# Sleeps until the annotations of the Node are not as this agent has read or written them; fails when they have not changed
# within the given seconds.
watching=""
wait_for_change() {
  local status=0 until=$((SECONDS + $1))
  if [ -z "$watching" ]; then
    exec 7< <(exec kubectl --kubeconfig "$kubernetes/kubelet.conf" get nodes --field-selector "metadata.name=$node" --watch \
      --output "go-template=$annotations_template"'{{"\n"}}' 2>/dev/null 8>&- 9>&-)
    watching=$!
  fi
  while [ "$SECONDS" -lt "$until" ]; do
    read_event $((until - SECONDS)) || status=$?
    # only the last of several counts
    while [ "$status" = 0 ] && read -r -t 0 -u 7; do read_event 5 || status=1; done
    if [ "$status" -gt 128 ]; then return 1; fi
    # a watch ends from time to time
    if [ "$status" != 0 ]; then stop_watching; pause 2; return 0; fi
    if is_news; then return 0; fi
  done
  return 1
}

# Reads the annotations from the watch, which ends them with an empty line: SECONDS until they begin. Exit code above 128
# when they have not.
declare -A event
read_event() {
  local key value
  event=()
  read -r -t "$1" -u 7 key value || return
  while [ -n "$key" ]; do
    if [[ $value == '"'*'"' ]]; then event[$key]=${value:1:-1}; fi
    read -r -t 5 -u 7 key value || return 1
  done
}

# Takes over the annotations of the watch if they are not as they were last read or written.
is_news() {
  local key news=no
  if [ ${#event[@]} != ${#annotation[@]} ]; then news=yes; fi
  for key in "${!event[@]}"; do if [ "${event[$key]}" != "${annotation[$key]-}" ]; then news=yes; fi; done
  if [ "$news" = no ]; then return 1; fi
  annotation=()
  for key in "${!event[@]}"; do annotation[$key]=${event[$key]}; done
  is_read=yes
}
stop_watching() {
  if [ -z "$watching" ]; then return 0; fi
  kill "$watching" 2>/dev/null || true
  exec 7<&-
  watching=""
}
is_container() { systemd-detect-virt --container --quiet; }
is_adopted() { grep -qs '^adopted ' "$ROOT$MEMBER_PATH"; }
is_control_plane() { [ -e "$kubernetes/manifests/kube-apiserver.yaml" ]; }
