# shellcheck shell=bash
# needs: common/software common/adopted
# Kubernetes from a folder or archive: bin/ with kubeadm, kubelet and kubectl, images/*.tar, SHA256SUMS.
# Parameters: VERSION, BUNDLE (folder on the machine), BUNDLE_URL and BUNDLE_SHA256 (empty for a folder that is there)

# Tells whether the bundle is to be downloaded.
is_download_due() { [ -n "$BUNDLE_URL" ] && [ "$(cat "$BUNDLE/.sha256" 2>/dev/null || true)" != "$BUNDLE_SHA256" ]; }

# Lists what is downloaded before the installation: "bundle SUM".
list_download() { if is_download_due; then echo "bundle $BUNDLE_SHA256"; fi; }

# Provides the bundle's complete folder on the machine.
obtain_bundle() {
  local archive=/var/lib/foresail/bundle.tar.gz
  if [ -z "$BUNDLE_URL" ]; then
    [ -d "$BUNDLE" ] || fail "the bundle folder $BUNDLE is not on this machine" 66
    return 0
  fi
  if ! is_download_due; then return 0; fi
  curl --fail --silent --show-error --location --retry 3 --continue-at - --max-time 900 "$BUNDLE_URL" --output "$archive" ||
    fail "the bundle could not be downloaded from $BUNDLE_URL; check cluster.source.bundle.url, and that this machine reaches it" 66
  if ! echo "$BUNDLE_SHA256  $archive" | sha256sum --check --quiet; then
    rm -f "$archive"
    fail "the bundle from $BUNDLE_URL has another checksum than the configuration names (cluster.source.bundle.sha256)" 65
  fi
  rm -rf "$BUNDLE"
  mkdir -p "$BUNDLE"
  tar -xzf "$archive" -C "$BUNDLE"
  rm -f "$archive"
  echo "$BUNDLE_SHA256" >"$BUNDLE/.sha256"
}

# Refuses a file that does not match the bundle's SHA256SUMS: FILE NAME-IN-THE-BUNDLE. The configuration's checksum
# covers all of an archive, so its SHA256SUMS is optional.
verify_file() {
  local sum
  if [ ! -f "$BUNDLE/SHA256SUMS" ]; then
    if [ -n "$BUNDLE_URL" ]; then return 0; fi
    fail "the bundle folder $BUNDLE has no SHA256SUMS, so nothing of it was used; make it from files that you trust: cd $BUNDLE && sha256sum bin/* images/*.tar >SHA256SUMS" 65
  fi
  # where the processor knows SHA-256, openssl is several times as fast
  if command -v openssl >/dev/null; then sum=$(openssl dgst -sha256 -r "$1" || true); else sum=$(sha256sum "$1" || true); fi
  sum=${sum%% *}
  if [ -z "$sum" ] || ! grep -qixF -e "$sum  $2" -e "$sum *$2" "$BUNDLE/SHA256SUMS"; then
    fail "$2 of the bundle does not match its SHA256SUMS" 65
  fi
}

# Refuses a bundle of another version, or one of whose programs does not match its SHA256SUMS: PROGRAM... Reading a whole
# bundle takes seconds, so only these programs are read, and kubeadm, which is run here.
verify_bundle() {
  local program found
  verify_file "$BUNDLE/bin/kubeadm" bin/kubeadm
  for program in "$@"; do
    if [ "$program" != kubeadm ]; then verify_file "$BUNDLE/bin/$program" "bin/$program"; fi
  done
  found=$("$BUNDLE/bin/kubeadm" version --output=short)
  [ "$found" = "v$VERSION" ] || fail "the bundle contains Kubernetes $found; the configuration requires v$VERSION" 65
}

# Brings the bundle to the machine, and fails when its programs have another version, exit code 65 or 66: PROGRAM...
check_kubernetes() {
  obtain_bundle
  verify_bundle "$@"
}

# Stages these programs for their installation, which then only moves them: PROGRAM... What lies there is verified.
stage_kubernetes() {
  local program folder=$AGENT_STAGED_PATH/$VERSION
  obtain_bundle
  mkdir -p "$folder"
  for program in "$@"; do
    if cmp --silent "$BUNDLE/bin/$program" "$folder/$program"; then continue; fi
    install -m 0755 "$BUNDLE/bin/$program" "$folder/.$program"
    verify_file "$folder/.$program" "bin/$program"
    mv -f "$folder/.$program" "$folder/$program"
  done
}

# Installs these programs in this version, unless they are installed: PROGRAM...
install_kubernetes() {
  local program new differing=() folder=$AGENT_STAGED_PATH/$VERSION
  for program in "$@"; do
    new=/usr/local/bin/.$program.foresail-new
    if [ -e "$folder/$program" ]; then
      mv -f "$folder/$program" "$new"
      mv -f "$new" "/usr/local/bin/$program"
      continue
    fi
    obtain_bundle
    cmp --silent "$BUNDLE/bin/$program" "/usr/local/bin/$program" || differing+=("$program")
  done
  if [ -n "${differing[*]}" ]; then verify_bundle "${differing[@]}"; fi
  for program in "${differing[@]}"; do
    new=/usr/local/bin/.$program.foresail-new
    install -m 0755 "$BUNDLE/bin/$program" "$new"
    mv -f "$new" "/usr/local/bin/$program"
  done
  if [[ " $* " == *" kubelet "* ]]; then write_kubelet_unit; fi
}

# Writes the kubelet's unit, except on an adopted machine, whose own unit may pass other arguments.
write_kubelet_unit() {
  if is_adopted; then return 0; fi
  write_file /etc/systemd/system/kubelet.service 0644 <<'UNIT'
[Unit]
Description=kubelet: the Kubernetes node agent
Documentation=https://kubernetes.io/docs/
Wants=network-online.target
After=network-online.target containerd.service

[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
EnvironmentFile=-/etc/default/kubelet
ExecStart=/usr/local/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
Restart=always
StartLimitInterval=0
RestartSec=2

[Install]
WantedBy=multi-user.target
UNIT
}

# Imports the bundle's images into containerd, unless it has all that are needed: machine|bundle says whose kubeadm lists
# them, the bundle's own while that on the machine is older.
import_images() {
  local have wanted archive imported="" kubeadm=/usr/local/bin/kubeadm
  if [ "$1" = bundle ]; then kubeadm=$BUNDLE/bin/kubeadm; fi
  wanted=$(list_images "$kubeadm")
  if has_all "$(list_pinned_images)" "$wanted"; then return 0; fi
  have=$(ctr --namespace k8s.io images list --quiet)
  if ! has_all "$have" "$wanted" && compgen -G "$BUNDLE/images/*.tar" >/dev/null; then
    for archive in "$BUNDLE"/images/*.tar; do verify_file "$archive" "images/${archive##*/}"; done
    for archive in "$BUNDLE"/images/*.tar; do imported+=" $(ctr --namespace k8s.io images import "$archive")"; done
  fi
  pin_images "$wanted" "$imported"
}

list_pinned_images() { ctr --namespace k8s.io images list --quiet 'labels."io.cri-containerd.pinned"==pinned'; }

# Tells whether a list has every line of another: LIST OTHER.
has_all() { [ -z "$(comm -13 <(sort <<<"$1") <(sort <<<"$2"))" ]; }

# Pins these images, so that a kubelet whose disk fills up does not delete them, since no registry may have them: IMAGES
# (one a line) and what an import printed, which has the names of all images of the bundle.
pin_images() {
  local image pinned
  pinned=$(list_pinned_images)
  for image in $(ctr --namespace k8s.io images list --quiet); do
    if grep -qxF "$image" <<<"$pinned"; then continue; fi
    if grep -qxF "$image" <<<"$1" || grep -qF "$image " <<<"$2 "; then
      ctr --namespace k8s.io images label "$image" io.cri-containerd.pinned=pinned >/dev/null
    fi
  done
}
