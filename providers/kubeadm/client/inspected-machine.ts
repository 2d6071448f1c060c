import { runScript, scanHostKey, SshConnection, type UnknownHost } from "../../../lib/ssh";
import { adoptionFactsScript, parseMemberFacts } from "../machine/adoption-steps";
import type { MemberFacts } from "../plan/adoption";

/**
 * Reads what identifies a machine as a member of a cluster, and pins its host key at first contact. Writes nothing on it.
 *
 * @param seconds until the machine answers
 * @throws the SSH client's typed errors
 */
export async function inspectMachine(
  host: UnknownHost,
  seconds: number,
): Promise<{ hostKey: string; facts: MemberFacts }> {
  const hostKey = await scanHostKey(host, seconds);
  const connection = await SshConnection.open({ ...host, hostKey }, { seconds });
  try {
    const script = adoptionFactsScript("", host.name);
    const { stdout } = await runScript(connection, { ...script, seconds });
    return { hostKey, facts: parseMemberFacts(stdout) };
  } finally {
    connection.close();
  }
}
