# shellcheck shell=bash
# given: common/system common/kubernetes-packages common/kubernetes-bundle node-agent/configuration node-agent/system-updates
# Installer of one version of one software, for the node agent: `check` fails if the source does not have the version,
# `stage` does all of Kubernetes' installation that can be done while the machine works, `install` installs it unless it is
# installed; all may run twice. `images restore` imports missing images of an installed version. `configuration keep` only
# keeps the files of before, `configuration changed` lists the user's files that this version changes, `configuration
# restore` takes it back, `configuration etcd FILE` writes etcd's new manifest to a file, `configuration certificate FOLDER` the API server's new
# certificate with its key to a folder, `configuration baseline` prints the version of nodes without one. `os-updates fetch`
# fetches the lists of packages, `os-updates list` lists pending updates, `os-updates download FILE` and `install FILE` those of a list.
# Parameters, besides those of common/: SOFTWARE, VERSION, PROXY (a list of NAME=value); for the agent itself AGENT_PROGRAM
set -euo pipefail
umask 077
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
export_proxy "${PROXY[@]}"

# Fails when no repository of this machine has this version of its containerd: PACKAGE.
check_containerd() {
  local versions
  versions=$(apt-cache madison "$1" | cut -d '|' -f 2 | tr -d ' ')
  grep -qxF -- "$VERSION" <<<"$versions" || fail "no apt repository of this machine has $1 $VERSION; it has: $(xargs <<<"$versions")" 65
}

# Installs exactly this version of the machine's containerd, and holds it so that no upgrade changes it.
install_containerd() {
  local package
  package=$(containerd_package)
  # shellcheck disable=SC2016 # dpkg-query fills it in
  if [ "$(dpkg-query --show --showformat='${Version}' "$package" 2>/dev/null || true)" != "$VERSION" ]; then
    configure_packages
    apt_get update
    check_containerd "$package"
    install_packages --no-install-recommends --allow-downgrades --allow-change-held-packages "$package=$VERSION"
  fi
  apt-mark hold "$package"
  restart_unit containerd
  await_containerd
}

# Upgrades all packages of the distribution to their repositories' current versions. VERSION is the date of the desired
# state.
upgrade_packages() {
  configure_packages
  apt_get update
  # shellcheck disable=SC2154 # common/software sets it
  apt_get upgrade --with-new-pkgs "${keep_configuration[@]}"
  printf '%s' "$VERSION" >"$AGENT_PATH/os-packages"
}

# Installs the agent, which its caller restarts. systemd restarts the agent however it ends, and ends its child processes
# with it.
install_node_agent() {
  write_file "$AGENT_PROGRAM_PATH" 0755 <<<"$AGENT_PROGRAM"
  write_file "$AGENT_UNIT_PATH" 0644 <<UNIT
[Unit]
Description=foresail: node agent, brings this machine to the versions that its Node's annotations ask for
Wants=network-online.target
After=network-online.target containerd.service
StartLimitIntervalSec=0

[Service]
Environment=PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
UnsetEnvironment=$PROXY_NAMES
ExecStart=$AGENT_PROGRAM_PATH
Restart=always
RestartSec=2
KillMode=control-group

[Install]
WantedBy=multi-user.target
UNIT
  systemctl daemon-reload
}

case "$SOFTWARE ${1:-}" in
"kubeadm check" | "kubelet check" | "kubectl check") check_kubernetes "$SOFTWARE" ;;
"kubeadm stage" | "kubelet stage" | "kubectl stage") stage_kubernetes "$SOFTWARE" ;;
"kubeadm install" | "kubectl install") install_kubernetes "$SOFTWARE" ;;
# the node is drained, and kubeadm has this version
"kubelet install")
  install_kubernetes kubelet
  use_pause_image
  ;;
"images check") check_kubernetes kubeadm ;;
# the bundle's own kubeadm lists the images
"images stage")
  check_kubernetes kubeadm
  import_images bundle
  ;;
# the machine has this version's kubeadm
"images install" | "images restore") import_images machine ;;
"containerd check") check_containerd "$(containerd_package)" ;;
"containerd install") install_containerd ;;
"os-packages install") upgrade_packages ;;
"os-updates fetch") fetch_lists ;;
"os-updates list") list_updates ;;
"os-updates download") download_updates "$2" ;;
"os-updates install") install_listed_updates "$2" ;;
"configuration keep") keep_previous ;;
"configuration install") install_configuration ;;
"configuration remove") remove_former_files ;;
"configuration changed") list_changed_files ;;
"configuration restore") restore_configuration ;;
"configuration baseline") print_baseline ;;
"configuration etcd") render_etcd "${@:2}" ;;
"configuration certificate") stage_certificate "$2" ;;
"node-agent install") install_node_agent ;;
"os-packages check" | "node-agent check" | "configuration check") ;;
*) fail "usage: $0 check|install" 64 ;;
esac
