#!/usr/bin/env bash
# Prints what the plan of $STACK for the files that are checked out is called. The name holds the hash of the tree, not of the
# commit: a pull request's merge commit, and the commit on main by merge, squash or rebase, have the same files.
set -euo pipefail
stack=${STACK:?STACK names the stack}
echo "foresail-plan-${stack//[^A-Za-z0-9_.-]/-}-$(git rev-parse 'HEAD^{tree}')"
