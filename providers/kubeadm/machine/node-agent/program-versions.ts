import { AGENT_VERSION_PATTERN } from "../../plan/version-pattern";

/** The part of the agent that handles versions: which are installed, requested, or refused. */
export const VERSIONS = `
is_container() { systemd-detect-virt --container --quiet; }
is_control_plane() { [ -e "$kubernetes/manifests/kube-apiserver.yaml" ]; }

# The version of one software on this machine, nothing when it has none.
found() {
  case $1 in
  kubeadm) kubeadm version --output=short 2>/dev/null | sed -n 's/^v//p' ;;
  kubelet) kubelet --version 2>/dev/null | sed -n 's/^Kubernetes v//p' ;;
  kubectl) kubectl version --client 2>/dev/null | sed -n 's/^Client Version: v//p' ;;
  containerd) dpkg-query --show --showformat='\${Version}' containerd 2>/dev/null ;;
  os-packages) cat "$folder/os-packages" 2>/dev/null ;;
  node-agent) printf '%s' "$version" ;;
  esac || true
}

# Whether an installer that was cut off has brought this version: what it does after that is still to be done.
is_half_installed() { [ -e "$installing/$1" ] && [ "$(<"$installing/$1")" = "$2" ]; }

# Whether a kubelet that starts anew takes the Node's name: by the host's name, or by the flag that kubeadm wrote at the join.
keeps_its_name() {
  [ "$(hostname | tr '[:upper:]' '[:lower:]')" = "$node" ] || grep -qsE -- '--hostname-override='"$node"'("|[[:space:]]|$)' "$kubelet_flags" /etc/default/kubelet
}

# As an annotation has it: Kubernetes' own programs with a leading v.
as_annotation() { case $1 in kube*) printf 'v%s' "$2" ;; *) printf '%s' "$2" ;; esac; }

# Compares what the annotations ask for, or the version of a dry run, with what is here.
declare -A wanted have
due=() wish=""
asked=annotations
compare() {
  local one
  due=() wish="\${annotation[$key_allowed]-}"
  for one in "\${software[@]}"; do
    if [ "$asked" = annotations ]; then wanted[$one]=\${annotation[\${key_desired[$one]}]-}; else wanted[$one]=$([[ $one != kube* ]] || say "$asked"); fi
    wanted[$one]=\${wanted[$one]#v}
    wish+=" $one \${wanted[$one]}"
    have[$one]=$(found "$one")
    if [ -n "\${wanted[$one]}" ] && { [ "\${wanted[$one]}" != "\${have[$one]}" ] || is_half_installed "$one" "\${wanted[$one]}"; }; then due+=("$one"); fi
  done
}
is_due() { [[ " \${due[*]-} " == *" $1 "* ]]; }

# As compare has found it: asking the programs again would take a second of a small machine's time.
note_found() {
  local one
  note "$key_revision" "$revision"
  for one in "\${software[@]}"; do
    if [ -n "\${have[$one]}" ]; then note "\${key_current[$one]}" "$(as_annotation "$one" "\${have[$one]}")"; fi
  done
}

minor_of() { cut -d . -f 2 <<<"$1"; }

# The version of the whole cluster, as kubeadm keeps it. Every node may read it.
cluster_version() {
  local credentials=$kubernetes/kubelet.conf text
  if is_control_plane; then credentials=$kubernetes/admin.conf; fi
  text=$(kubectl --kubeconfig "$credentials" --request-timeout=20s --namespace kube-system get configmap kubeadm-config \\
    --output 'jsonpath={.data.ClusterConfiguration}' 2>"$words") || { wait_for_api; return 1; }
  sed -n 's/^kubernetesVersion: v//p' <<<"$text"
}

# Says why the wish can't be obeyed, or nothing.
refuse() {
  local one to from cluster
  for one in "\${due[@]}"; do
    to=\${wanted[$one]}
    if ! [[ $to =~ ${AGENT_VERSION_PATTERN} ]]; then say "$one: \\"\${to:0:60}\\" is not a version"; return 0; fi
    if [ ! -f "$installers/$one/$to" ]; then
      say "$one $to is not staged on this machine, which has: $(ls "$installers/$one" 2>/dev/null | xargs); a node takes only what foresail has put there"
      return 0
    fi
  done
  if ! keeps_its_name; then
    say "this machine calls itself $(hostname) and its kubelet was given no other name, so it would come back as another Node than $node; run there: hostnamectl set-hostname $node"
    return 0
  fi
  to=\${wanted[kubelet]} from=\${have[kubelet]}
  if [ "$to" != "\${wanted[kubeadm]}" ] || [ "$to" != "\${wanted[kubectl]}" ]; then
    say "kubelet, kubeadm and kubectl have to go to the same version, but are asked for \${to:-none}, \${wanted[kubeadm]:-none} and \${wanted[kubectl]:-none}"
    return 0
  fi
  if [ -z "$to" ] || [ -z "$from" ] || [ "$asked" != annotations ]; then return 0; fi
  if [ "$(minor_of "$to")" -lt "$(minor_of "$from")" ]; then say "a kubelet never goes back a minor version, from $from to $to"; return 0; fi
  if [ "$(minor_of "$to")" -gt "$(($(minor_of "$from") + 1))" ]; then say "one minor version at a time: $to is more than one above $from"; return 0; fi
  if is_control_plane; then return 0; fi
  cluster=$(cluster_version)
  if [ -z "$cluster" ]; then say "the cluster's version could not be read from kubeadm-config: $(tail -n 1 "$words")"; return 0; fi
  if [ "$(minor_of "$to")" -gt "$(minor_of "$cluster")" ]; then say "the control plane is at $cluster; a kubelet is never newer"; fi
}`.trim();
