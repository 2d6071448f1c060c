#!/usr/bin/env bash
# Does what the plan in $OUT specifies, and nothing else, if it is the reviewed one ($PLAN_SHA256). Run again after a
# kill, it does the rest. Before a stack of the wave $WAVE begins, its window has to be open.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
stack=${STACK:?STACK names the stack}
out=${OUT:?OUT names the folder with the plan}
digest=${PLAN_SHA256:?PLAN_SHA256 is the digest in the reviewed comment}
read -ra foresail <<<"${FORESAIL:-npx --no-install foresail}"

if ! sha256sum --check --status <<<"$digest  $out/plan.json"; then
  echo "::error::The plan of $stack is not the one in the reviewed comment; nothing was changed. Preview and review it again in a new pull request."
  exit 1
fi
# shellcheck source-path=SCRIPTDIR source=credentials.sh
source "$here/credentials.sh"
if [[ -n ${WAVE:-} ]]; then "${foresail[@]}" fleet window --wave "$WAVE" --stack "$stack"; fi
status=0
"${foresail[@]}" up --stack "$stack" --plan "$out/plan.json" || status=$?
case $status in
  3) echo "::error::The cluster of $stack has changed since the review; nothing was changed. Preview and review it again in a new pull request." ;;
  4) echo "::warning::The rollout of $stack is paused; run this workflow again to continue." ;;
esac
exit "$status"
