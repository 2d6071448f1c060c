#!/usr/bin/env bash
# Does what the plan in $OUT holds, and nothing else. Run again after a kill, it does the rest.
set -euo pipefail
stack=${STACK:?STACK names the stack}
out=${OUT:?OUT names the folder with the plan}
read -ra foresail <<<"${FORESAIL:-npx --no-install foresail}"

status=0
"${foresail[@]}" up --stack "$stack" --plan "$out/plan.json" || status=$?
case $status in
  3) echo "::error::The cluster of $stack is no longer as it was reviewed; nothing was touched. Preview and review it again in a new pull request." ;;
  4) echo "::warning::The rollout of $stack is paused; run this workflow again to go on." ;;
esac
exit "$status"
