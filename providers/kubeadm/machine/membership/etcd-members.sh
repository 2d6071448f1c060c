# shellcheck shell=bash
# needs: common/etcd
# Lists etcd's members from one control plane. Answers the member list as JSON on the first line, then "healthy <client
# URL>" lines. Parameters: ETCD_SILENT (exit code when this machine's etcd does not answer), STARTING (addresses of members
# that are not asked for their health: they take connections before they answer)
refuse_foreign_machine
members=$(etcd_members) || fail "etcd gives no answer on this machine" "$ETCD_SILENT"
printf '%s\n' "$members" | tr -d '\n' >&4
echo >&4
while read -r url; do
  address=${url#https://}
  address=${address%:*}
  if [[ " ${STARTING[*]} " == *" ${address//[][]/} "* ]]; then continue; fi
  if etcd "$url/health" 2>/dev/null | grep -q '"health": *"true"'; then echo "healthy $url" >&4; fi
done < <(grep -o '"clientURLs":\["[^"]*"' <<<"$members" | grep -o 'https://[^"]*')
