#!/usr/bin/env bash
# Previews $STACK into the folder $OUT: plan.json for the merge, preview.json, and comment.md for the pull request,
# which is written for a preview that is refused, too. Checks the stack by the policies in $POLICY_PACK, if that is set.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
stack=${STACK:?STACK names the stack}
out=${OUT:?OUT names the folder for the results}
# a command, with its arguments
read -ra foresail <<<"${FORESAIL:-npx --no-install foresail}"
policies=()
if [[ -n ${POLICY_PACK:-} ]]; then
  policies=(--policy-pack "$POLICY_PACK")
  config=$POLICY_PACK/environments/$stack.json
  if [[ -f $config ]]; then policies+=(--policy-pack-config "$config"); fi
fi
# shellcheck source-path=SCRIPTDIR source=credentials.sh
source "$here/credentials.sh"

mkdir -p "$out"
rm -f "$out"/{plan.json,preview.json,comment.md}
echo "plan-name=$("$here/plan-name.sh")" >>"${GITHUB_OUTPUT:-/dev/null}"
status=0
"${foresail[@]}" preview --stack "$stack" --save-plan "$out/plan.json" --json "$out/preview.json" "${policies[@]}" ||
  status=$?
if [[ -f $out/preview.json ]]; then
  "${foresail[@]}" report --markdown --stack "$stack" "$out/preview.json" >"$out/comment.md"
fi
exit "$status"
