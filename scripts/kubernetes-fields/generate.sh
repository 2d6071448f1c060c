#!/bin/sh
# `npm run fields`: writes the fields and flags of the supported minor versions. A new minor version is one more here.
set -eu
cd "$(dirname "$0")"
file=../../providers/kubeadm/plan/validation/kubernetes-fields.ts
go run . 1.31.14 1.32.10 1.33.6 1.34.2 1.35.4 1.36.3 1.37.2 >"$file.new"
mv "$file.new" "$file"
npx prettier --write "$file"
