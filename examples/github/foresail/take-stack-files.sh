#!/usr/bin/env bash
# Takes the stack files of the pull request, checked out as a merge commit in $FILES, into this checkout of main, and
# nothing else of it: a branch brings data to the preview, never code. The file $GENERATED may change, too: it is written
# from the stack files, and is not taken. Writes the output `preview=true` if there is something to preview.
set -euo pipefail
files=${FILES:?FILES names the checkout of the merge commit}
folder=${STACK_FILES:-stacks/config}

if [[ $(git rev-parse HEAD) != "$(git -C "$files" rev-parse 'HEAD^1')" ]]; then
  echo "::error::main has moved since this run started; run it again."
  exit 1
fi
# the files that were reviewed before this job got its secrets
if [[ -n ${HEAD_SHA:-} && $(git -C "$files" rev-parse 'HEAD^2') != "$HEAD_SHA" ]]; then
  echo "::error::The pull request has moved since this run started: its newer run previews it."
  exit 1
fi
stacks=() code=()
while IFS= read -r -d '' file; do
  case $file in
    "$folder"/*) stacks+=("$file") ;;
    *.md | "${GENERATED:-}") ;;
    *) code+=("$file") ;;
  esac
done < <(git -C "$files" diff --name-only --no-renames -z 'HEAD^1' HEAD)
if ((${#stacks[@]} == 0)); then
  echo "::notice::This pull request changes no file in $folder: there is nothing to preview."
  exit 0
fi
if ((${#code[@]} > 0)); then
  printf '::error::This pull request changes stack files and %d other files. Previews run code of main only: merge the other files first, in a pull request of their own.\n' "${#code[@]}"
  exit 1
fi
for file in "${stacks[@]}"; do
  rm -f -- "$file"
  # a deleted file has no content; a link's content is its target, as text
  git -C "$files" cat-file -e "HEAD:$file" 2>/dev/null || continue
  mkdir -p -- "$(dirname "$file")"
  git -C "$files" cat-file blob "HEAD:$file" >"$file"
done
echo "preview=true" >>"${GITHUB_OUTPUT:-/dev/null}"
