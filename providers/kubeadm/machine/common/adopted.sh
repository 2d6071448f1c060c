# shellcheck shell=bash

# Tells whether this machine was adopted as a member: it keeps what its administrator decided.
is_adopted() { grep -qs '^adopted ' "$MEMBER_PATH"; }
