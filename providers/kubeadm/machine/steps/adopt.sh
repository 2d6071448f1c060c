# shellcheck shell=bash
# Claims a member of a cluster that foresail did not make: writes the marker and the member's file, and nothing else.
# Parameters: AUTHORITY (SHA-256 of the certificate authority of the cluster, which was read a moment ago)
claimed_by=$(cat "$MARKER_PATH" 2>/dev/null || true)
[ -z "$claimed_by" ] || [ "$claimed_by" = "$OWNER" ] ||
  fail "$MACHINE: this machine belongs to another foresail cluster or carries another name ($claimed_by); release it there first" 78
found=$(authority | sha256sum)
[ "${found%% *}" = "$AUTHORITY" ] || fail "$MACHINE: is no longer a member of the cluster that was inspected" 78
printf '%s\n' "$OWNER" >"$MARKER_PATH"
[ -e "$MEMBER_PATH" ] || printf 'adopted %s\n' "$(date -u +%FT%TZ)" >"$MEMBER_PATH"
