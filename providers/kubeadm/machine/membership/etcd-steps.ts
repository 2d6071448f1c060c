import { readJsonObjectOf } from "../../../../lib/json";
import type { EtcdMember } from "../../plan/membership/quorum";
import { step } from "../steps";

/** Exit code of a step when the machine's etcd does not answer: it is starting or not healthy. */
export const ETCD_SILENT = 69;

/**
 * Lists etcd's members for parseEtcdMembers; exits with ETCD_SILENT when this machine's etcd does not answer.
 *
 * @param starting internal addresses of machines that are not asked for their health
 */
export const etcdMembersScript = (cluster: string, machine: string, starting: readonly string[] = []) =>
  step("etcd-members", cluster, machine, { ETCD_SILENT, STARTING: starting });

/** Parses the answer of etcdMembersScript. @throws Error when the text is not one */
export function parseEtcdMembers(answer: string): EtcdMember[] {
  const [json = "", ...lines] = answer.trim().split("\n");
  const { members } = readJsonObjectOf("etcd's member list", json) as {
    members?: {
      ID: string;
      name?: string;
      peerURLs?: string[];
      clientURLs?: string[];
      isLearner?: boolean;
    }[];
  };
  if (!members) throw new Error(`etcd's member list has no members: ${json.slice(0, 200)}`);
  const healthy = new Set(lines.filter((line) => line.startsWith("healthy ")).map((line) => line.slice(8)));
  return members.map(({ ID, name = "", peerURLs = [], clientURLs = [], isLearner = false }) => ({
    id: ID,
    name,
    peerUrls: peerURLs,
    healthy: clientURLs.some((url) => healthy.has(url)),
    ...(isLearner ? { learner: true } : {}),
  }));
}

/** Removes one member from etcd through another control plane. Succeeds when it was removed before. */
export const etcdRemoveScript = (cluster: string, machine: string, { id }: EtcdMember) =>
  step("etcd-remove", cluster, machine, { MEMBER_ID: id });
