# shellcheck shell=bash
# The settings of a machine that can change while it is a node: proxies, CA certificates, mirrors and the user's files.
# Parameters:
#   CA_BUNDLE                            certificates, or empty
#   PROXY                                list of NAME=value
#   REGISTRIES, REGISTRY_HOSTS           lists of registries with mirrors, and of containerd's hosts.toml for each
#   FILE_PATHS, FILE_MODES, FILE_OWNERS, FILE_CONTENTS   lists of the user's files; an owner may be empty

ca_certificate=/usr/local/share/ca-certificates/foresail.crt
apt_proxy=/etc/apt/apt.conf.d/90foresail-proxy

# The variables of a proxy with a user and password. Everyone can read what a unit's own Environment= has.
proxy_credentials=/etc/foresail/proxy.env

# The file of a unit's proxy: UNIT.
unit_proxy() { printf '/etc/systemd/system/%s.service.d/foresail-proxy.conf' "$1"; }

# Lists the files that containerd reads at its start.
containerd_files() { printf '%s\n' "$ca_certificate" "$proxy_credentials" "$(unit_proxy containerd)"; }

# Lists the files of proxies and CA certificates.
environment_files() {
  containerd_files
  printf '%s\n' "$apt_proxy" "$(unit_proxy kubelet)"
}

# Removes a file, if there is one: PATH. Sets `changed` to yes.
remove_file() {
  if ! is_there "$1"; then return 0; fi
  remove_path "$1"
  # shellcheck disable=SC2034 # callers read it
  changed=yes
}

# Tells whether the proxy has a user and password.
has_proxy_credentials() { [[ "${PROXY[*]}" == *://*@* ]]; }

# Sets up proxies and additional CA certificates, or takes them away. Sets restart_containerd when containerd must reload.
configure_environment() {
  local changed=no unit variable mode=0644 settings
  if [ -n "$CA_BUNDLE" ]; then write_file "$ca_certificate" 0644 <<<"${CA_BUNDLE%$'\n'}"; else remove_file "$ca_certificate"; fi
  if [ "$changed" = yes ]; then update-ca-certificates --fresh >/dev/null; fi
  if [ -z "${PROXY[*]}" ]; then
    for unit in containerd kubelet; do remove_file "$(unit_proxy "$unit")"; done
    remove_file "$apt_proxy"
    remove_file "$proxy_credentials"
  else
    export_proxy "${PROXY[@]}"
    if has_proxy_credentials; then
      mode=0600
      write_file "$proxy_credentials" 0600 <<<"$(for variable in "${PROXY[@]}"; do printf '%s="%s"\n' "${variable%%=*}" "${variable#*=}"; done)"
      settings="EnvironmentFile=-$proxy_credentials"
    else
      remove_file "$proxy_credentials"
      settings=$(printf 'Environment="%s"\n' "${PROXY[@]}")
    fi
    for unit in containerd kubelet; do write_file "$(unit_proxy "$unit")" 0644 <<<"[Service]
$settings"; done
    write_file "$apt_proxy" "$mode" <<<"$(
      for variable in "${PROXY[@]}"; do
        case $variable in
        HTTP_PROXY=*) echo "Acquire::http::Proxy \"${variable#*=}\";" ;;
        HTTPS_PROXY=*) echo "Acquire::https::Proxy \"${variable#*=}\";" ;;
        esac
      done
    )"
  fi
  # shellcheck disable=SC2034 # callers read it
  restart_containerd=$changed
}

# The file of a registry's mirrors, which containerd reads whenever it pulls an image: REGISTRY.
registry_hosts() { printf '/etc/containerd/certs.d/%s/hosts.toml\n' "$1"; }

write_registry_hosts() {
  local index
  for index in "${!REGISTRIES[@]}"; do
    write_file "$(registry_hosts "${REGISTRIES[index]}")" 0644 <<<"${REGISTRY_HOSTS[index]%$'\n'}"
  done
}

write_user_files() {
  local index
  for index in "${!FILE_PATHS[@]}"; do
    write_file "${FILE_PATHS[index]}" "${FILE_MODES[index]}" "${FILE_OWNERS[index]}" <<<"${FILE_CONTENTS[index]%$'\n'}"
  done
}

# Loads the user's files for the kernel, as a boot does: modules first, since settings may be theirs. In a container the
# modules are the host's.
load_kernel_files() {
  local path output modules
  for path in "${FILE_PATHS[@]}"; do
    case $path in /etc/modules | /*/modules-load.d/*.conf) ;; *) continue ;; esac
    mapfile -t modules < <(sed -E 's/[#;].*//' "$path" | xargs -r -n 1)
    if [ "${#modules[@]}" = 0 ] || systemd-detect-virt --container --quiet; then continue; fi
    output=$(modprobe --all -- "${modules[@]}" 2>&1) ||
      fail "the kernel does not load the modules of $path: $(tail -n 1 <<<"$output"); correct the file in the configuration"
  done
  for path in "${FILE_PATHS[@]}"; do
    case $path in /etc/sysctl.conf | /*/sysctl.d/*.conf) ;; *) continue ;; esac
    # a line with a dash is for a key that may be missing
    output=$({ sed '/^[[:space:]]*-/d' "$path" | sysctl --quiet --load=- && sed -n 's/^[[:space:]]*-//p' "$path" | sysctl --quiet --ignore --load=-; } 2>&1) ||
      fail "the kernel does not take the settings of $path: $(tail -n 1 <<<"$output"); correct the file in the configuration, or begin the line with a dash if the key may be missing"
  done
}
