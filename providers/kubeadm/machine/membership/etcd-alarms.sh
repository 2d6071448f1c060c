# shellcheck shell=bash
# needs: common/system common/owner common/etcd
# Reads the alarms of etcd's members. Answers JSON. Changes nothing. Parameters: those of common/owner
set -euo pipefail
export LC_ALL=C
refuse_foreign_machine >&2
etcd --data '{"action":"GET"}' https://127.0.0.1:2379/v3/maintenance/alarm || {
  echo "etcd gives no answer on this machine" >&2
  exit 1
}
