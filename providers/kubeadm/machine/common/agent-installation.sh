# shellcheck shell=bash
# Installs the node agent.
# Parameters: INSTALLER_PATHS and INSTALLER_HEADERS (of each installer, the agent's own first), INSTALLER_TEXT (of all),
# AGENT_CONFIGURATION, PATCH_FOLDERS (with a patch of foresail, which kubeadm gets from then on)

# Writes the agent, its configuration and the installers of the versions that it can choose from.
write_agent() {
  local index path
  # kubeadm refuses a folder that is missing, and may run before the patch is written
  mkdir -p "$AGENT_INSTALLERS_PATH" "${PATCH_FOLDERS[@]}"
  keep_former_installers
  for index in "${!INSTALLER_PATHS[@]}"; do
    write_file "${INSTALLER_PATHS[index]}" 0700 <<<"${INSTALLER_HEADERS[index]}
$INSTALLER_TEXT"
  done
  # every other installer is removed, so that it can't be requested any more
  while read -r path; do
    [[ " ${INSTALLER_PATHS[*]} " == *" $path "* ]] || rm -f "$path"
  done < <(find "$AGENT_INSTALLERS_PATH" -type f)
  write_file "$AGENT_CONFIGURATION_PATH" 0600 <<<"${AGENT_CONFIGURATION%$'\n'}"
  bash "${INSTALLER_PATHS[0]}" install
}

# Keeps the installers of the version that runs, with which a node goes back from another one that fails. No request can name
# them.
keep_former_installers() {
  local version software
  # a change of this machine is under way, which may go back to those that are there
  if [ -e "$AGENT_PATH/before" ]; then return 0; fi
  version=$(kubelet --version 2>/dev/null | sed -n 's/^Kubernetes v//p' || true)
  if [ -z "$version" ] || [ ! -f "$AGENT_INSTALLERS_PATH/kubelet/$version" ]; then return 0; fi
  rm -rf "$AGENT_PATH/former"
  mkdir -p "$AGENT_PATH/former/$version"
  for software in kubeadm kubelet kubectl images; do
    if [ -f "$AGENT_INSTALLERS_PATH/$software/$version" ]; then cp --archive "$AGENT_INSTALLERS_PATH/$software/$version" "$AGENT_PATH/former/$version/$software"; fi
  done
}

start_agent() {
  systemctl enable --quiet foresail-node-agent
  # a working agent would hold the machine's lock, so the restart interrupts nothing
  systemctl restart foresail-node-agent
}
