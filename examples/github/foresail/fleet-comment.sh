#!/usr/bin/env bash
# Makes one comment and one page of the previews in $REVIEWS, which the jobs of the stacks $STACKS (a JSON list) left:
# $OUT/comment.md and $OUT/page.html. The comment ends with the plans, so that the merge runs these and no others.
set -euo pipefail
reviews=${REVIEWS:?REVIEWS names the folder with the previews}
stacks=${STACKS:?STACKS lists the stacks}
out=${OUT:?OUT names the folder for the results}
read -ra foresail <<<"${FORESAIL:-npx --no-install foresail}"

mkdir -p "$out"
"${foresail[@]}" fleet collect "$reviews" --stacks "$stacks" --save-plan "$out/plans"
"${foresail[@]}" fleet report "$out/plans" --markdown --plans --html "$out/page.html" >"$out/comment.md"
