# shellcheck shell=bash
# needs: common/authority
# Claims a member of a cluster that foresail did not make: writes the marker and the member's file, and nothing else.
# Parameters: AUTHORITY (SHA-256 of the certificate authority of the cluster, which was read a moment ago)
refuse_foreign_mark
refuse_unnamed_owner
found=$(authority | sha256sum)
[ "${found%% *}" = "$AUTHORITY" ] || fail "$MACHINE: is no longer a member of the cluster that was inspected" 78
write_mark
[ -e "$MEMBER_PATH" ] || printf 'adopted %s\n' "$(date -u +%FT%TZ)" >"$MEMBER_PATH"
