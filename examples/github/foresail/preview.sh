#!/usr/bin/env bash
# Previews $STACK into the folder $OUT: plan.json for the merge, preview.json, and comment.md for the pull request,
# which is written for a preview that is refused, too.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
stack=${STACK:?STACK names the stack}
out=${OUT:?OUT names the folder for the results}
# a command, with its arguments
read -ra foresail <<<"${FORESAIL:-npx --no-install foresail}"
# shellcheck source-path=SCRIPTDIR source=credentials.sh
source "$here/credentials.sh"

mkdir -p "$out"
rm -f "$out"/{plan.json,preview.json,comment.md}
echo "plan-name=$("$here/plan-name.sh")" >>"${GITHUB_OUTPUT:-/dev/null}"
status=0
"${foresail[@]}" preview --stack "$stack" --save-plan "$out/plan.json" --json "$out/preview.json" || status=$?
if [[ -f $out/preview.json ]]; then
  "${foresail[@]}" report --markdown --stack "$stack" "$out/preview.json" >"$out/comment.md"
fi
exit "$status"
