# shellcheck shell=bash
# Checks whether the node agent has found its machine ready. Answers the version of the agent that recorded it, or
# nothing.
refuse_foreign_machine
if [ -e "$AGENT_INITIALIZED_PATH" ]; then cat "$AGENT_INITIALIZED_PATH" >&4; fi
