# shellcheck shell=bash
# needs: common/etcd
# Removes one member from etcd through another control plane. Succeeds when it was removed before.
# Parameters: MEMBER_ID
refuse_foreign_machine
if etcd_members | grep -q "\"ID\":\"$MEMBER_ID\""; then
  etcd --data "{\"ID\":\"$MEMBER_ID\"}" https://127.0.0.1:2379/v3/cluster/member/remove
fi
