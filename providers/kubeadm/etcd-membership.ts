import {
  etcdMembersScript,
  etcdRemoveScript,
  parseEtcdMembers,
  type EtcdMember,
} from "../../core/kubeadm/steps/etcd";
import type { Machine } from "../../core/machine";
import { refuseMemberAddition } from "../../core/membership/quorum";
import { waitFor, WaitTimeout } from "../../clients/wait";
import type { ClusterSession } from "./cluster-session";
import { livingControlPlane } from "./living-control-plane";
import { report, type MachinesSession } from "./machines-session";
import type { NodeGroupInputs } from "./node-group-inputs";

const ETCD_SECONDS = 60;
/** How long a member that only just started may take until the others hear of it. */
const HEALTHY_SECONDS = 30;

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

/**
 * Waits until etcd would take a new member. A dead one is named here, where kubeadm would try for minutes.
 *
 * @throws Error with the way out when a member stays silent
 */
export async function awaitHealthyEtcd(
  session: ClusterSession,
  inputs: NodeGroupInputs,
  joining: string,
): Promise<void> {
  const living = await livingControlPlane(inputs.controlPlanes);
  let refusal: string | undefined;
  try {
    await waitFor({
      what: "every member of etcd to answer",
      seconds: HEALTHY_SECONDS,
      signal: session.signal,
      progress: (line) => report(session.resource, line),
      probe: async () => {
        const members = await etcdMembers(session, inputs.specification.name, living);
        refusal = refuseMemberAddition(members, joining);
        return refusal ? { pending: refusal } : { done: undefined };
      },
    });
  } catch (error) {
    throw error instanceof WaitTimeout && refusal ? new Error(refusal, { cause: error }) : error;
  }
}
