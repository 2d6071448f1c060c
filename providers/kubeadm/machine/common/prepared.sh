# shellcheck shell=bash
# Parameters: PREPARED (version of the settings that a machine is prepared with), CONFIGURATION (of the node's configuration)

# Ends the step on a machine on which nothing is prepared: kubeadm would be missing, or wait five minutes for an endpoint that
# is not there. refuse_foreign_machine has read the mark, which prepare writes. Arguments: WHAT_HELPS.
refuse_unprepared() {
  [ -n "$claimed_by" ] ||
    fail "$MACHINE: nothing is prepared on this machine, which was reinstalled or reset since; $1" 78
}

# Ends the step on a machine that was prepared before its settings changed; older releases did not record them.
refuse_other_preparation() {
  if [ ! -e "$PREPARED_PATH" ] || [ "$(<"$PREPARED_PATH")" = "$PREPARED" ]; then return 0; fi
  fail "$MACHINE: was prepared with other files, proxies, mirrors or CA certificates; write another text as bootstrapRevision, so that it is prepared again" 78
}

# Records the configuration with which the machine became a node, for its node agent.
record_configuration() {
  mkdir -p "$AGENT_PATH"
  printf '%s' "$CONFIGURATION" >"$AGENT_PATH/configuration"
}
