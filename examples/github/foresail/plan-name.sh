#!/usr/bin/env bash
# Prints the name of the plan of $STACK for the files in the checkout $FILES (default: this one). The name has the hash
# of the tree, not of the commit: a pull request's merge commit, and the commit on main by merge, squash or rebase, have
# the same files.
set -euo pipefail
stack=${STACK:?STACK names the stack}
echo "foresail-plan-${stack//[^A-Za-z0-9_.-]/-}-$(git -C "${FILES:-.}" rev-parse 'HEAD^{tree}')"
