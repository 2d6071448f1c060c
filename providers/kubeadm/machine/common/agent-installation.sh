# shellcheck shell=bash
# Installs the node agent.
# Parameters: INSTALLER_PATHS and INSTALLER_HEADERS (of each installer, the agent's own first), INSTALLER_TEXT (of all),
# AGENT_CONFIGURATION

# Writes the agent, its configuration and the installers of the versions that it can choose from.
write_agent() {
  local index path
  mkdir -p "$AGENT_INSTALLERS_PATH"
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

start_agent() {
  systemctl enable --quiet foresail-node-agent
  # a working agent would hold the machine's lock, so the restart interrupts nothing
  systemctl restart foresail-node-agent
}
