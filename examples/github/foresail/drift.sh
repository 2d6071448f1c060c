#!/usr/bin/env bash
# Looks on the machines of $STACK for files that others changed, into $OUT/drift.json. Drift is not a failure here: the next
# step opens an issue.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
stack=${STACK:?STACK names the stack}
out=${OUT:?OUT names the folder for the result}
read -ra foresail <<<"${FORESAIL:-npx --no-install foresail}"
# shellcheck source-path=SCRIPTDIR source=credentials.sh
source "$here/credentials.sh"

mkdir -p "$out"
status=0
"${foresail[@]}" drift --stack "$stack" --output json >"$out/drift.json" || status=$?
if [[ $status == 10 ]]; then
  echo "::warning::Others changed files on machines of $stack."
  status=0
fi
exit "$status"
