import type { EtcdMember } from "../../plan/membership/quorum";
import { refuseForeignMachine } from "./ownership";
import { frame, quote, type Script } from "./script";

/** Exit code of a step when the machine's etcd does not answer: it is starting or not healthy. */
export const ETCD_SILENT = 69;

const CALL = `
etcd() {
  curl --silent --show-error --fail --max-time 10 --cacert /etc/kubernetes/pki/etcd/ca.crt \\
    --cert /etc/kubernetes/pki/apiserver-etcd-client.crt --key /etc/kubernetes/pki/apiserver-etcd-client.key "$@"
}`.trim();

/**
 * Lists etcd's members from one control plane, over etcd's JSON gateway with the API server's own client certificate.
 * Answers the member list as JSON on the first line, then "healthy <client URL>" lines; exits with {@link ETCD_SILENT}
 * when this machine's etcd does not answer.
 */
export function etcdMembersScript(cluster: string, machine: string): Script {
  return frame(
    "etcd-members",
    machine,
    [
      refuseForeignMachine(cluster, machine),
      CALL,
      `members=$(etcd --data '{}' https://127.0.0.1:2379/v3/cluster/member/list) || fail "etcd gives no answer on this machine" ${ETCD_SILENT}`,
      `printf '%s\\n' "$members" | tr -d '\\n' >&4; echo >&4`,
      `for url in $(grep -o '"clientURLs":\\["[^"]*"' <<<"$members" | grep -o 'https://[^"]*'); do
  if etcd "$url/health" 2>/dev/null | grep -q '"health": *"true"'; then echo "healthy $url" >&4; fi
done`,
    ].join("\n"),
  );
}

interface GatewayMember {
  ID: string;
  name?: string;
  peerURLs?: string[];
  clientURLs?: string[];
}

/** Parses the answer of etcdMembersScript. @throws Error when the text is not one */
export function parseEtcdMembers(answer: string): EtcdMember[] {
  const [json = "", ...lines] = answer.trim().split("\n");
  const { members } = JSON.parse(json) as { members?: GatewayMember[] };
  if (!members) throw new Error(`etcd's member list has no members: ${json.slice(0, 200)}`);
  const healthy = new Set(lines.filter((line) => line.startsWith("healthy ")).map((line) => line.slice(8)));
  return members.map(({ ID, name = "", peerURLs = [], clientURLs = [] }) => ({
    id: ID,
    name,
    peerUrls: peerURLs,
    healthy: clientURLs.some((url) => healthy.has(url)),
  }));
}

/** Removes one member from etcd through another control plane. Succeeds when it was removed before. */
export function etcdRemoveScript(cluster: string, machine: string, member: EtcdMember): Script {
  return frame(
    "etcd-remove",
    machine,
    [
      refuseForeignMachine(cluster, machine),
      CALL,
      `if etcd --data '{}' https://127.0.0.1:2379/v3/cluster/member/list | grep -q ${quote(`"ID":"${member.id}"`)}; then
  etcd --data ${quote(JSON.stringify({ ID: member.id }))} https://127.0.0.1:2379/v3/cluster/member/remove
fi`,
    ].join("\n"),
  );
}
