import { ETCD_SILENT, etcdMembersScript, etcdRemoveScript, parseEtcdMembers } from "../machine/steps";
import { type EtcdMember, refuseMemberAddition, refuseMemberAbsence } from "../plan/membership/quorum";
import type { Machine } from "../plan/machine";
import { Transient, waitFor, WaitTimeout } from "../../../lib/wait";
import type { ClusterSession } from "./cluster-session";
import { firstReady, noneReady, type MachinesSession } from "./machines-session";
import type { NodeGroupInputs, NodeRolloutInputs } from "./declarations";

const ETCD_SECONDS = 60;
/** How long to wait for a control plane to return etcd's members. */
const ANSWER_SECONDS = 60;
/** How long to wait until the other members find a member that has just started. */
const HEALTHY_SECONDS = 30;

/** etcd's members as seen by one control plane. */
interface SeenMembers {
  living: Machine;
  members: EtcdMember[];
}

/**
 * Reads etcd's members once, through a control plane whose API server is ready.
 *
 * @throws Transient when no API server is ready, or its etcd does not answer: both restart during a rollout
 */
async function seeEtcdMembers(session: MachinesSession, controlPlanes: Machine[]): Promise<SeenMembers> {
  const living = await firstReady(controlPlanes);
  if (!living) throw new Transient(noneReady(controlPlanes));
  try {
    const script = etcdMembersScript(session.cluster, living.name);
    const answer = await session.run(living, script, { seconds: ETCD_SECONDS });
    return { living, members: parseEtcdMembers(answer) };
  } catch (error) {
    const { SshCommandError } = await import("../../../lib/ssh/index.js");
    if (error instanceof SshCommandError && error.exitCode === ETCD_SILENT)
      throw new Transient(`etcd gives no answer on ${living.name}`, { cause: error });
    throw error;
  }
}

/** Waits for one of the control planes to return etcd's members. @throws WaitTimeout when none does within a minute */
export function etcdMembers(session: ClusterSession, controlPlanes: Machine[]): Promise<SeenMembers> {
  return waitFor({
    what: "a control plane to tell etcd's members",
    seconds: ANSWER_SECONDS,
    ...session.waiting,
    probe: async () => ({ done: await seeEtcdMembers(session, controlPlanes) }),
  });
}

/** Removes a member from etcd through another control plane. */
export async function removeEtcdMember(
  session: MachinesSession,
  living: Machine,
  member: EtcdMember,
): Promise<void> {
  const script = etcdRemoveScript(session.cluster, living.name, member);
  await session.run(living, script, { seconds: ETCD_SECONDS });
}

/**
 * Waits until etcd accepts a new member. Reports a dead member soon, whereas kubeadm would retry for minutes.
 *
 * @throws Error with a remedy when a member does not answer
 */
export async function awaitHealthyEtcd(
  session: ClusterSession<NodeGroupInputs>,
  joining: string,
): Promise<void> {
  let refusal: string | undefined;
  try {
    await waitFor<void>({
      what: "every member of etcd to answer",
      seconds: HEALTHY_SECONDS,
      ...session.waiting,
      probe: async () => {
        const { members } = await seeEtcdMembers(session, session.inputs.controlPlanes);
        refusal = refuseMemberAddition(members, joining);
        return refusal ? { pending: refusal } : { done: undefined };
      },
    });
  } catch (error) {
    throw error instanceof WaitTimeout && refusal ? new Error(refusal, { cause: error }) : error;
  }
}

/**
 * Waits until etcd has a quorum without the member of one control plane: a member that has just come back may take a
 * moment to become healthy.
 *
 * @throws WaitTimeout with the names of the unhealthy members; the SSH client's errors
 */
export async function untilEtcdSpares(
  session: ClusterSession<NodeRolloutInputs>,
  name: string,
): Promise<void> {
  const { machines, timeouts } = session.inputs;
  const controlPlanes = machines.filter(({ role }) => role === "control-plane");
  const others = controlPlanes.filter((machine) => machine.name !== name);
  await waitFor<void>({
    what: `etcd to have a quorum without ${name}`,
    seconds: timeouts.ready,
    ...session.waiting,
    firstPauseMilliseconds: 1000,
    probe: async () => {
      const { members } = await seeEtcdMembers(session, others.length > 0 ? others : controlPlanes);
      const refusal = refuseMemberAbsence(members, name);
      return refusal ? { pending: refusal } : { done: undefined };
    },
  });
}
