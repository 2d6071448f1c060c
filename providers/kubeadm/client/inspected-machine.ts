import { runScript, scanHostKey, SshConnection, type UnknownHost } from "../../../lib/ssh";
import { adoptionFactsScript, parseMemberFacts } from "../machine/adoption/adoption-steps";
import {
  parseRewritten,
  rewrittenData,
  rewrittenSettingsScript,
  writtenAddons,
} from "../machine/adoption/rewritten-settings";
import type { KubeadmObjects, MemberFacts } from "../plan/adoption/adoption-facts";
import type { RewrittenObject } from "../plan/adoption/lost-settings";
import type { Machine } from "../plan/cluster/machine";
import { messageOf } from "../../../lib/error-message";

/** What kubeadm writes again on a machine and in its cluster, or why it could not be read. */
export type RewrittenReading = { objects: readonly RewrittenObject[] } | { unread: string };

/** What is read of a machine besides what identifies it. */
interface RewrittenRequest {
  machine: Pick<Machine, "name" | "role" | "internalAddress">;
  cluster: KubeadmObjects;
  /** Whether kube-proxy and CoreDNS are read, too. */
  addons: boolean;
}

/** How long a machine may take to let kubeadm render what it writes. */
const RENDER_SECONDS = 60;

/**
 * Reads what identifies a machine as a member of a cluster, and pins its host key at first contact. Writes nothing on it.
 *
 * @param seconds until the machine answers
 * @param rewritten reads what kubeadm writes again on it, too
 * @throws the SSH client's typed errors
 */
export async function inspectMachine(
  host: UnknownHost,
  seconds: number,
  rewritten?: RewrittenRequest,
): Promise<{ hostKey: string; facts: MemberFacts; rewritten?: RewrittenReading }> {
  const hostKey = await scanHostKey(host, seconds);
  const connection = await SshConnection.open({ ...host, hostKey }, { seconds });
  try {
    const script = adoptionFactsScript("", host.name);
    const { stdout } = await runScript(connection, { ...script, seconds });
    const facts = parseMemberFacts(stdout);
    if (rewritten === undefined) return { hostKey, facts };
    return { hostKey, facts, rewritten: await readRewritten(connection, rewritten) };
  } finally {
    connection.close();
  }
}

async function readRewritten(
  connection: SshConnection,
  { machine, cluster, addons }: RewrittenRequest,
): Promise<RewrittenReading> {
  try {
    const script = rewrittenSettingsScript({
      machine,
      addons: addons ? writtenAddons(cluster) : [],
      adopts: true,
    });
    const data = rewrittenData([cluster], machine);
    const { stdout } = await runScript(connection, { ...script, seconds: RENDER_SECONDS, data });
    return { objects: parseRewritten(stdout) };
  } catch (error) {
    return { unread: messageOf(error) };
  }
}
