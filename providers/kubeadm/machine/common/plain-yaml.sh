# shellcheck shell=bash

# Prints an object, which any program may have written as YAML in any style or as JSON, in the one form that awk and sed expect,
# changed by a merge patch: [PATCH]. kubectl asks no server for this.
as_plain_yaml() { kubectl patch --local --type merge --filename - --patch "${1:-{\}}" --output yaml; }
