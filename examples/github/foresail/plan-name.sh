#!/usr/bin/env bash
# Prints the name of the plan of $STACK for the files in the checkout $FILES (default: this one), previewed for the head
# $HEAD_SHA of the pull request $PULL_REQUEST. The name has the hash of the tree, not of the commit: a pull request's merge
# commit, and the commit on main by merge, squash or rebase, have the same files.
set -euo pipefail
stack=${STACK:?STACK names the stack}
pull="${PULL_REQUEST:-none}-${HEAD_SHA:-none}"
echo "foresail-plan-${stack//[^A-Za-z0-9_.-]/-}-$pull-$(git -C "${FILES:-.}" rev-parse 'HEAD^{tree}')"
