# shellcheck shell=bash
# needs: common/agent-installation
# Installs the node agent and stages the versions that it can choose from. Refuses a version that the source does not
# have. Does everything at once that the machine can do while it works, so that it is drained for a shorter time. This
# includes the import of a bundle's images: the first upgraded control plane gives every node a new kube-proxy, which is
# in no registry.
# Parameters, besides those of common/agent-installation: KUBERNETES_VERSIONS (to stage)

# Stages a Kubernetes version: VERSION. Of the one that runs, only missing images are imported again.
stage() {
  local software images=$AGENT_INSTALLERS_PATH/images/$1
  if [ "$(kubelet --version 2>/dev/null || true)" = "Kubernetes v$1" ]; then
    if [ -e "$images" ]; then bash "$images" restore || echo "images of Kubernetes $1 are missing, and the bundle does not have them"; fi
    rm -rf "${AGENT_STAGED_PATH:?}/$1"
    return 0
  fi
  "$AGENT_PROGRAM_PATH" --dry-run "$1" || fail "Kubernetes $1 can't be staged; the lines before this one say why" 65
  for software in kubeadm kubelet kubectl; do bash "$AGENT_INSTALLERS_PATH/$software/$1" stage; done
  if [ -e "$images" ]; then bash "$images" stage; fi
}

refuse_foreign_machine
[ -e "$MEMBER_PATH" ] || fail "$MACHINE: is not a member of the cluster, so it has no Node whose annotations to follow"
write_agent
for path in "$AGENT_STAGED_PATH"/*; do
  [[ " ${KUBERNETES_VERSIONS[*]} " == *" ${path##*/} "* ]] || rm -rf "$path"
done
for version in "${KUBERNETES_VERSIONS[@]}"; do stage "$version"; done
start_agent
