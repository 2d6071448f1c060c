import {
  etcdMembersScript,
  etcdRemoveScript,
  parseEtcdMembers,
  type EtcdMember,
} from "../../core/kubeadm/steps/etcd";
import type { Machine } from "../../core/machine";
import type { MachinesSession } from "./machines-session";

const ETCD_SECONDS = 60;

/** etcd's members as one living control plane sees them. */
export async function etcdMembers(
  session: MachinesSession,
  cluster: string,
  living: Machine,
): Promise<EtcdMember[]> {
  return parseEtcdMembers(
    await session.run(living, etcdMembersScript(cluster, living.name), { seconds: ETCD_SECONDS }),
  );
}

/** Takes a member out of etcd through a living control plane. */
export async function removeEtcdMember(
  session: MachinesSession,
  cluster: string,
  living: Machine,
  member: EtcdMember,
): Promise<void> {
  await session.run(living, etcdRemoveScript(cluster, living.name, member), { seconds: ETCD_SECONDS });
}
