# shellcheck shell=bash
# needs: common/tried-programs
# Tries kube-proxy with the configuration that kubeadm will give it, for a preview. Writes only into a folder in memory that root
# alone can read, and that is removed in any case. Data: the kubeadm configuration. Answers the lines of common/tried-programs;
# none where there is nothing to try it with.
set -euo pipefail
umask 077
export LC_ALL=C
folder=$(mktemp --directory /run/foresail-preview.XXXXXXXX)
trap 'rm -rf --one-file-system "$folder"' EXIT
cat >"$folder/kubeadm.yaml"
if ! has_programs kubeadm kubectl; then exit 0; fi
# the manifest of this kubeadm: one of another minor refuses to write it
sed -i "s|^kubernetesVersion: .*|kubernetesVersion: $(kubeadm version --output short)|" "$folder/kubeadm.yaml"
timeout 30 env --ignore-environment PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  kubeadm init phase addon kube-proxy --config "$folder/kubeadm.yaml" --print-manifest >"$folder/manifest.yaml" 2>"$folder/log" || exit 0
template='{{if eq .kind "ConfigMap"}}{{index .data "config.conf"}}{{"\n"}}{{end}}'
kubectl annotate --local --overwrite --filename "$folder/manifest.yaml" foresail/read=yes --output "go-template=$template" >"$folder/config.conf" 2>"$folder/log" || exit 0
if [ -s "$folder/config.conf" ]; then try_kube_proxy "$folder/config.conf"; fi
