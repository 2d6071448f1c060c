# shellcheck shell=bash
# Gives a machine back as common/before has recorded it. Each part may run again, since a reset may be interrupted.

# Gives files back that were in the places of foresail's, and removes those that were not there: LIST (of paths) FOLDER
# (with what was there).
restore_files() {
  local path kept
  if [ ! -e "$1" ]; then return 0; fi
  while IFS= read -r path; do
    kept=$2$path
    if [[ $path == */ ]]; then
      path=${path%/}
      # its parent may be one in which a user has put a link since
      (enter_folder "${path%/*}" no && rmdir -- "./${path##*/}") >/dev/null 2>&1 || true
    elif [ -L "$kept" ]; then
      # only a link in a folder that is root's alone is on record
      is_roots_alone "${path%/*}" && rm -f -- "$path" && cp --archive --no-dereference -- "$kept" "$path" || echo "$path is not as it was"
    elif [ -e "$kept" ]; then
      put_file "$kept" "$path" || echo "$path is not as it was"
    else
      remove_path "$path" || echo "$path is left"
    fi
  done < <(tac "$1")
}

# Gives everything else back: kernel settings, swap, holds of packages, CA certificates and containerd's settings.
restore_before() {
  local certificates=no container=no package swap
  if systemd-detect-virt --container --quiet; then container=yes; fi
  if [ -e /usr/local/share/ca-certificates/foresail.crt ]; then certificates=yes; fi
  # a release before this one has recorded nothing, but these files are foresail's in any case
  rm -f /etc/sysctl.d/90-foresail.conf /etc/modules-load.d/foresail.conf /etc/foresail/proxy.env /etc/apt/apt.conf.d/90foresail-proxy \
    /etc/apt/sources.list.d/foresail-kubernetes.list /etc/apt/keyrings/foresail-kubernetes.asc \
    /etc/systemd/system/{containerd,kubelet}.service.d/foresail-proxy.conf /usr/local/share/ca-certificates/foresail.crt
  restore_files "$BEFORE_PATH/paths" "$BEFORE_PATH/files"
  # an adopted machine has a record of the configured files only, which its node agent made
  restore_files "$AGENT_PATH/written" "$AGENT_PATH/originals"
  if [ "$certificates" = yes ]; then update-ca-certificates --fresh >/dev/null || true; fi
  rmdir /etc/systemd/system/{containerd,kubelet}.service.d 2>/dev/null || true
  systemctl daemon-reload
  # the other settings of a container are those of its host
  if [ "$container" = yes ]; then sed -i '/^net\./!d' "$BEFORE_PATH/settings" 2>/dev/null || true; fi
  if [ -s "$BEFORE_PATH/settings" ]; then sysctl --quiet --ignore --load="$BEFORE_PATH/settings" || true; fi
  if grep -qs '^# foresail: ' /etc/fstab; then
    sed -i 's/^# foresail: //' /etc/fstab
    swapon -a || true
  fi
  if [ "$container" = no ] && [ -s "$BEFORE_PATH/swap" ]; then
    while IFS= read -r swap; do
      swapon --noheadings --raw --show=NAME | grep -qxF -- "$swap" || swapon "$swap" || echo "the swap $swap is not on again"
    done <"$BEFORE_PATH/swap"
  fi
  if [ -e "$BEFORE_PATH/holds" ]; then
    for package in kubeadm kubelet kubectl "$(containerd_package)"; do
      if ! grep -qxF -- "$package" "$BEFORE_PATH/holds"; then apt-mark unhold "$package" >/dev/null 2>&1 || true; fi
    done
  fi
  if systemctl is-active --quiet containerd; then systemctl restart containerd || true; fi
}
