# shellcheck shell=bash
# Reads what others changed in the files that foresail wrote. Writes nothing. Answers what the node agent prints, or
# "unsupported" if it is older than that.
set -euo pipefail
export LC_ALL=C
if ! grep -qs '^print_drift()' "$AGENT_PROGRAM_PATH"; then echo unsupported; exit 0; fi
bash "$AGENT_PROGRAM_PATH" --drift
