# shellcheck shell=bash
# Takes a file as it is now for the one that foresail wrote. The restarted node agent reports what is left.
# Parameters: FILE
refuse_foreign_machine
grep -qs '^print_drift()' "$AGENT_PROGRAM_PATH" || fail "$MACHINE: its node agent does not look for drift yet" 65
bash "$AGENT_PROGRAM_PATH" --accept "$FILE" || fail "$MACHINE: $FILE is not accepted"
systemctl restart foresail-node-agent
