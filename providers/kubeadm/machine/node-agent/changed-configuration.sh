# shellcheck shell=bash disable=SC2034,SC2154,SC2317 # parts of one program
# Brings the machine to a configuration, or back to the one before when it does not come up with it: VERSION.
change_configuration() {
  local why
  if [ "$mode" != dry-run ]; then printf '%s\n' "$1" >>"$changing"; fi
  if apply_configuration "$1"; then
    if [ "$mode" != dry-run ]; then
      printf '%s' "$1" >"$folder/configuration"
      rm -f "$changing"
    fi
    return 0
  fi
  why=$failure
  if [ "$mode" = dry-run ]; then return 1; fi
  # the pod that kept ending stays the newest one until the kubelet has made that of before again
  remember_starts
  failure=""
  if act "go back to the previous configuration" run bash "$installers/configuration/$1" restore && restart_kubelet && await_previous_etcd "$1" && await_previous_certificate "$1" && await_ready_node; then
    rm -f "$changing"
    failure="$why; this machine went back to its previous configuration"
  else
    failure="$why; going back failed, too: ${failure:-$(last_line)}"
  fi
  rm -f "$installing/configuration"
  # the same configuration would fail again, and each time it takes something down
  is_final=yes
  longer_pause=1800
  return 1
}

# Renews what kubeadm has signed, and restarts what reads it, unless kubeadm upgrade did both.
renew_certificates() {
  local name
  find_certificates
  if [ ! -e "$renewing" ] && are_certificates_valid "${wanted[certificates]}"; then return 0; fi
  if [ "$mode" != dry-run ]; then touch "$renewing"; fi
  act "kubeadm certs renew all" attempt "kubeadm certs renew all" kubeadm certs renew all || return 1
  for name in etcd kube-apiserver kube-controller-manager kube-scheduler; do
    if [ ! -e "$kubernetes/manifests/$name.yaml" ]; then continue; fi
    act "restart $name" restart_static_pod "$name" "$kubernetes/manifests/$name.yaml" || return 1
  done
  if [ "$mode" != dry-run ]; then rm -f "$renewing"; fi
}

part_of() { cut -s -d . -f "$1" <<<"$2"; }

# Tells whether a part of a control plane's configuration changes: NUMBER VERSION. It may have the settings of any change that
# has begun. As long as its settings had not changed, a version had no such part, and the baseline has it.
changes_part() {
  local version before after
  after=$(part_of "$1" "$2")
  if ! is_control_plane || [ -z "$after" ]; then return 1; fi
  while read -r version; do
    before=$(part_of "$1" "$version")
    if [ -z "$before" ]; then before=$(part_of "$1" "$(bash "$installers/configuration/$2" baseline)"); fi
    if [ "$before" != "$after" ]; then return 0; fi
  done < <(printf '%s\n' "${have[configuration]}"; cat "$changing" 2>/dev/null)
  return 1
}
changes_etcd() { changes_part 4 "$1"; }
changes_certificate() { changes_part 5 "$1"; }

# kubeadm takes each static pod back by itself when it does not come up, except for etcd.
apply_configuration() {
  local installer=$installers/configuration/$1 credentials=$kubernetes/kubelet.conf
  install_version configuration "$1" || return 1
  if is_control_plane; then
    credentials=$kubernetes/admin.conf
    if changes_etcd "$1"; then act "change etcd" change_etcd "$installer" || return 1; fi
    if changes_certificate "$1"; then act "change the API server's certificate" change_certificate "$installer" || return 1; fi
    act "kubeadm upgrade node phase control-plane" attempt "kubeadm upgrade node phase control-plane" until_static_pod_fails \
      kubeadm upgrade node phase control-plane --certificate-renewal=false --etcd-upgrade=false "${patch_flags[@]}" || return 1
  fi
  # not earlier: an API server that starts again while etcd restarts still reads them
  if [ "$mode" != dry-run ]; then attempt "remove the files that are no longer configured" bash "$installer" remove || return 1; fi
  if is_control_plane; then
    act "restart the static pods whose files have changed" restart_static_pods "$installer" || return 1
  fi
  act "kubeadm upgrade node phase kubelet-config" attempt "kubeadm upgrade node phase kubelet-config" \
    kubeadm upgrade node phase kubelet-config --kubeconfig "$credentials" "${patch_flags[@]}" || return 1
  act "restart the kubelet, and wait until the Node is Ready" restart_kubelet_of_ready_node
}

# Gives the member of etcd on this machine another manifest, and waits until it and the API server are healthy: INSTALLER.
# `kubeadm upgrade node --etcd-upgrade` would replace the member's peers, and copy etcd's data back if that takes long.
change_etcd() {
  local manifest=$kubernetes/manifests/etcd.yaml new=$kubernetes/.foresail-etcd.yaml before=""
  attempt "kubeadm init phase etcd local" bash "$1" etcd "$new" "${patch_flags[@]}" || return 1
  if cmp --silent "$new" "$manifest"; then
    rm -f "$new"
  else
    before=$(processes_of etcd)
    move_into_place "$new" "$manifest" || return 1
  fi
  await_static_pod etcd "$before" && await_static_pod kube-apiserver
}

await_previous_etcd() { ! changes_etcd "$1" || await_static_pod etcd; }

# Gives the API server on this machine a certificate with other names, and waits until it is ready with it: INSTALLER. The API
# server loads a certificate that changes by itself.
change_certificate() {
  attempt "create the API server's certificate" bash "$1" certificate "$kubernetes/.foresail-certificate" || return 1
  exchange_certificate && await_certificate
}

# Puts a new certificate and its key in place. The next start ends what a power cut interrupted: an API server does not start
# with one of them alone.
exchange_certificate() {
  local new=$kubernetes/.foresail-certificate
  if [ ! -d "$new" ]; then return 0; fi
  attempt "replace the API server's certificate" find "$new" -type f -exec mv -f -t "$kubernetes/pki" {} + && rmdir "$new"
}

# Waits until the API server is ready, and answers with the key of the certificate that is on this machine.
await_certificate() {
  local key=$folder/certificate.pub
  if ! openssl x509 -noout -pubkey -in "$kubernetes/pki/apiserver.crt" >"$key" 2>"$output"; then
    failure="read $kubernetes/pki/apiserver.crt: $(last_line)"
    return 1
  fi
  for _ in $(seq 100); do
    if curl --silent --fail --insecure --noproxy '*' --max-time 5 --output /dev/null --pinnedpubkey "$key" https://127.0.0.1:6443/readyz; then return 0; fi
    pause 3
  done
  failure="the API server is not ready with its new certificate after five minutes; look at the logs in /var/log/pods"
  return 1
}

await_previous_certificate() { ! changes_certificate "$1" || await_certificate; }

# Restarts the static pods that read files which this configuration changes: INSTALLER. kubeadm has restarted those whose
# manifest is not as it was before, and waited until their pod was there, whether its program runs or not.
restart_static_pods() {
  local manifest kept name changed
  changed=$(bash "$1" changed)
  for name in kube-apiserver kube-controller-manager kube-scheduler; do
    manifest=$kubernetes/manifests/$name.yaml
    kept=$folder/previous/files$manifest
    if [ ! -e "$kept" ]; then continue; fi
    if ! cmp --silent "$manifest" "$kept"; then
      await_static_pod "$name" || return 1
    elif [ -n "$changed" ] && mounts_any "$manifest" "$changed"; then
      restart_static_pod "$name" "$manifest" || return 1
    fi
  done
}

# Tells whether a static pod mounts one of these files, or a folder that contains it: MANIFEST FILES.
mounts_any() {
  local mounted file
  while read -r mounted; do
    while read -r file; do
      if [[ $file == "$mounted" || $file == "$mounted"/* ]]; then return 0; fi
    done <<<"$2"
  done < <(sed -n 's/^ *path: *//p' "$1")
  return 1
}

# Restarts a static pod and waits for its new process: NAME MANIFEST [TEXT_OF_MANIFEST]. The kubelet makes a pod again when
# its manifest differs.
restart_static_pod() {
  local name=$1 text=${3:-$2} before new=$kubernetes/.foresail-$1.yaml
  before=$(processes_of "$name")
  attempt "replace $2" cp --archive "$text" "$new" || return 1
  mark_for_restart "$new"
  move_into_place "$new" "$2" && await_static_pod "$name" "$before"
}

# Puts a new file in the place of another one: NEW PATH.
move_into_place() {
  if attempt "replace $2" mv -f "$1" "$2"; then return 0; fi
  rm -f "$1"
  end_if_fixed
  return 1
}

# Takes a failure to replace a file for final when the file can't change: it is mounted or immutable. A full disk may get space.
end_if_fixed() {
  if grep -qE 'Device or resource busy|Read-only file system|Operation not permitted' "$output"; then is_final=yes; fi
}

# Waits until a static pod is healthy and has a process that it did not have before: NAME [PROCESSES].
await_static_pod() {
  local name=$1
  for _ in $(seq 100); do
    if [ -n "$(comm -13 <(printf '%s\n' "${2-}") <(processes_of "$name"))" ] && is_static_pod_healthy "$name"; then return 0; fi
    forgive_starts "$name"
    if failure=$(keeps_ending "$name"); then is_final=yes; return 1; fi
    pause 3
  done
  failure="$name is not healthy five minutes after its restart; look at the logs in /var/log/pods"
  return 1
}
