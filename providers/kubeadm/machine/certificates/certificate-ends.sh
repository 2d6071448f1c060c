# shellcheck shell=bash
# needs: common/certificates
# Reads when the certificates of a machine end. Writes nothing. Answers the words of certificate_ends, and "renewing" when
# a renewal has begun and what reads the certificates has not restarted.
set -euo pipefail
export LC_ALL=C
certificate_ends
if [ -e "$AGENT_PATH/renewing-ended" ]; then printf ' renewing'; fi
if served=$(timeout 5 openssl s_client -connect 127.0.0.1:6443 </dev/null 2>/dev/null) &&
  openssl x509 -noout -checkend 0 <<<"$served" >/dev/null 2>&1; then printf ' serving'; fi
