/**
 * One bash program under the names of all that the node agent calls. It keeps its state in files, writes every call
 * down, and on request hangs before or after a call's effect, or fails it.
 */
export function machineProgram(folder: string): string {
  return `#!/bin/bash
state=${folder}/state
name=\${0##*/}
call="$name $*"
case $call in *-install*) call="install $*" ;; esac
printf '%s\\n' "$call" >>$state/calls

is_met() { [ -e "$state/$1" ] && [[ $call == *"$(<"$state/$1")"* ]]; }
hang() { rm "$state/$1"; : >"$state/hung"; exec sleep 600; }
if is_met hang-before; then hang hang-before; fi
if is_met fail; then
  left=$(<"$state/fail-times")
  if [ "$left" -gt 0 ]; then
    echo $((left - 1)) >"$state/fail-times"
    cat "$state/fail-words" >&2
    exit 1
  fi
fi

annotate() {
  local change file
  for change in "$@"; do
    file="$state/annotations/"
    case $change in
    --* | annotate | node | w-1) ;;
    *=*) key=\${change%%=*}; printf '%s' "\${change#*=}" >"$file\${key//\\//@}" ;;
    *-) key=\${change%-}; rm -f "$file\${key//\\//@}" ;;
    esac
  done
}

print_annotations() {
  local file key
  for file in "$state"/annotations/*; do
    key=\${file##*/}
    if [ -e "$file" ]; then printf '%s "%s"\\n' "\${key//@//}" "$(<"$file")"; fi
  done
}

case $call in
"kubectl version"*) echo "Client Version: v$(<$state/versions/kubectl)" ;;
"kubectl"*" --watch "*)
  last=none
  while now=$(print_annotations) && [ -d "$state" ]; do
    if [ "$now" != "$last" ]; then printf '%s\n\n' "$now"; fi
    last=$now
    sleep 0.05
  done
  ;;
"kubectl"*"get node "*conditions*) printf '%s %s' "$(<$state/ready)" "$(<$state/reports)" ;;
"kubectl"*"get node "*) print_annotations ;;
"kubectl"*"get configmap kubeadm-config"*)
  if [ -e $state/kubeadm-config ]; then cat $state/kubeadm-config; else printf 'kind: ClusterConfiguration\\nkubernetesVersion: v%s\\n' "$(<$state/versions/cluster)"; fi
  ;;
# as kubectl reads a field of any text of this kind
"kubectl annotate --local "*) sed -nE 's/.*"?kubernetesVersion"?: *"?(v[0-9.]+).*/\\1/p' ;;
"kubectl"*" annotate node "*) shift 5; annotate "$@" ;;
"kubeadm version"*) echo "v$(<$state/versions/kubeadm)" ;;
"kubeadm upgrade apply v"*) version=\${3#v}; printf '%s' "$version" >$state/versions/cluster; printf '%s' "$version" >$state/versions/manifests ;;
"kubeadm upgrade node"*) cp $state/versions/cluster $state/versions/manifests ;;
"kubeadm certs renew all") if [ -e $state/renewal ]; then . $state/renewal; fi ;;
"kubelet --version") echo "Kubernetes v$(<$state/versions/kubelet)" ;;
"systemctl restart kubelet")
  cp $state/versions/kubelet $state/versions/running
  if [ -e $state/ready-later ]; then cp $state/ready-later $state/ready; fi
  if [ ! -e $state/silent ]; then date --utc +%FT%TZ >$state/reports; fi
  ;;
# it is asked for after a restart that failed
"systemctl show"*SubState*) printf '%s\\n' ActiveState=failed SubState=failed NRestarts=0 ;;
"systemctl stop kubelet") if [ -e $state/last-report ]; then date --utc +%FT%TZ >$state/reports; fi ;;
"hostname "*) if [ -e $state/hostname ]; then cat $state/hostname; else echo w-1; fi ;;
"systemd-detect-virt"*) [ -e $state/container ] || exit 1 ;;
"dpkg-query"*) printf '%s' "$(<$state/versions/containerd)" ;;
"install "*" install")
  printf '%s' "$2" >"$state/versions/$1"
  # another version is another file
  touch "$(readlink --canonicalize "$0")"
  ;;
esac
if is_met hang-after; then hang hang-after; fi
exit 0
`;
}
