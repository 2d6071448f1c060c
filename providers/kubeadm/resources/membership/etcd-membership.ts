import { SshCommandError } from "../../../../lib/ssh/errors";
import { anySignal } from "../../../../lib/abort";
import { type WaitArgs, waitFor, WaitTimeout } from "../../../../lib/wait";
import {
  ETCD_SILENT,
  etcdMembersScript,
  etcdRemoveScript,
  parseEtcdMembers,
} from "../../machine/membership/etcd-steps";
import { controlPlanesOf, type Machine } from "../../plan/cluster/machine";
import { type EtcdMember, refuseMemberAddition, refuseMemberAbsence } from "../../plan/membership/quorum";
import type { ClusterSession } from "../session/cluster-session";
import type { NodeGroupInputs, NodeRolloutInputs } from "../declarations";
import { firstReady, noneReady, type MachinesSession } from "../session/machines-session";

/** How long to wait for a control plane to return etcd's members. */
const ANSWER_SECONDS = 60;
/** How long to wait until the other members find a member that has just started. */
const HEALTHY_SECONDS = 30;

/** etcd's members as seen by one control plane. */
interface SeenMembers {
  living: Machine;
  members: EtcdMember[];
}

/** Machines whose joins have not ended. Their members may be in the list long before they answer. */
export type Joining = ReadonlySet<Machine>;

const NONE: Joining = new Set();

/**
 * Waits until a ready control plane returns etcd's members and nothing refuses them. An API server that is not ready
 * and an etcd that does not answer only delay it, since both restart during a rollout.
 *
 * @param options with the machines that are not asked for their health
 */
function untilEtcd(
  session: ClusterSession,
  controlPlanes: Machine[],
  what: string,
  seconds: number,
  refuse: (members: EtcdMember[]) => string | undefined,
  {
    joining = NONE,
    ...options
  }: { joining?: Joining } & Pick<
    WaitArgs<SeenMembers>,
    "signal" | "firstPauseMilliseconds" | "longestPauseMilliseconds"
  > = {},
): Promise<SeenMembers> {
  const starting = [...joining].map(({ internalAddress }) => internalAddress);
  const script = (cluster: string, machine: string) => etcdMembersScript(cluster, machine, starting);
  const probe = async () => {
    const living = await firstReady(controlPlanes);
    if (!living) return { pending: noneReady(controlPlanes) };
    try {
      const members = parseEtcdMembers(await session.run(living, script));
      const refusal = refuse(members);
      return refusal ? { pending: refusal } : { done: { living, members } };
    } catch (error) {
      if (!(error instanceof SshCommandError) || error.exitCode !== ETCD_SILENT) throw error;
      return { pending: `etcd gives no answer on ${living.name}` };
    }
  };
  const signal = anySignal(session.waiting.signal, options.signal);
  return waitFor<SeenMembers>({ what, seconds, ...session.waiting, ...options, signal, probe });
}

/** Waits for one of the control planes to return etcd's members. @throws WaitTimeout when none does within a minute */
export function etcdMembers(
  session: ClusterSession,
  controlPlanes: Machine[],
  joining = NONE,
): Promise<SeenMembers> {
  const what = "a control plane to tell etcd's members";
  return untilEtcd(session, controlPlanes, what, ANSWER_SECONDS, () => undefined, { joining });
}

/** Removes a member from etcd through another control plane. */
export async function removeEtcdMember(
  session: MachinesSession,
  living: Machine,
  member: EtcdMember,
): Promise<void> {
  await session.run(living, etcdRemoveScript(session.cluster, living.name, member));
}

/**
 * Waits until etcd accepts a new member. Reports a dead member soon, whereas kubeadm would retry for minutes.
 *
 * @param name of the new member's machine
 * @param joining kubeadm itself waits for their members
 * @throws Error with a remedy when a member does not answer
 */
export async function awaitHealthyEtcd(
  session: ClusterSession<NodeGroupInputs>,
  name: string,
  joining: Joining,
): Promise<void> {
  const what = "every member of etcd to answer";
  const starting = [...joining].map((machine) => machine.name);
  let refusal: string | undefined;
  const refuse = (members: EtcdMember[]) =>
    (refusal = refuseMemberAddition(
      members.filter((member) => !starting.includes(member.name)),
      name,
    ));
  try {
    await untilEtcd(session, session.inputs.controlPlanes, what, HEALTHY_SECONDS, refuse, { joining });
  } catch (error) {
    throw error instanceof WaitTimeout && refusal ? new Error(refusal, { cause: error }) : error;
  }
}

/**
 * Waits until etcd counts the member of a joining control plane for its quorum. This is seconds before its join ends, and
 * then etcd accepts another one.
 *
 * @param joined ends with the join
 * @throws what the join throws, if that ends first
 */
export async function untilVotingMember(
  session: ClusterSession<NodeGroupInputs>,
  machine: Machine,
  joined: Promise<void>,
): Promise<void> {
  const { controlPlanes, timeouts } = session.inputs;
  const { name } = machine;
  const ended = new AbortController();
  const end = () => ended.abort();
  joined.then(end, end);
  const others = controlPlanes.filter((other) => other.name !== name);
  const isVoting = (member: EtcdMember) => member.name === name && member.learner === undefined;
  const refuse = (members: EtcdMember[]) =>
    members.some(isVoting) ? undefined : "it is not a voting member yet";
  const pauses = { firstPauseMilliseconds: 500, longestPauseMilliseconds: 1000 };
  const options = { joining: new Set([machine]), signal: ended.signal, ...pauses };
  // whatever keeps the members from being read, the end of the join tells enough
  await untilEtcd(session, others, `${name} to be a member of etcd`, timeouts.join, refuse, options).catch(
    () => joined,
  );
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
  const controlPlanes = controlPlanesOf(machines);
  const others = controlPlanes.filter((machine) => machine.name !== name);
  const asked = others.length > 0 ? others : controlPlanes;
  const refuse = (members: EtcdMember[]) => refuseMemberAbsence(members, name);
  await untilEtcd(session, asked, `etcd to have a quorum without ${name}`, timeouts.ready, refuse);
}
