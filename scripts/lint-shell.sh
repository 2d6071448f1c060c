#!/bin/sh
# Checks every shell file with shellcheck. Run in the project's root.
set -eu
node scripts/check-shell.cjs
if ! command -v shellcheck >/dev/null; then
  echo "lint needs shellcheck for the shell files; install it: sudo apt-get install --no-install-recommends shellcheck" >&2
  exit 1
fi
git ls-files -z '*.sh' .ci/run | xargs -0 shellcheck --external-sources
