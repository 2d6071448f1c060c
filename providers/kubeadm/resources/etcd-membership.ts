import { ETCD_SILENT, etcdMembersScript, etcdRemoveScript, parseEtcdMembers } from "../machine/steps";
import { type EtcdMember, refuseMemberAddition, refuseMemberAbsence } from "../plan/membership/quorum";
import type { Machine } from "../plan/machine";
import { Transient, waitFor, WaitTimeout } from "../../../lib/wait";
import type { ClusterSession } from "./cluster-session";
import { firstReady, noneReady, type MachinesSession } from "./machines-session";
import { report } from "../../../lib/pulumi/log";
import type { NodeGroupInputs, NodeRolloutInputs } from "./inputs";

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
export async function seeEtcdMembers(
  session: MachinesSession,
  cluster: string,
  controlPlanes: Machine[],
): Promise<SeenMembers> {
  const living = await firstReady(controlPlanes);
  if (!living) throw new Transient(noneReady(controlPlanes));
  try {
    const script = etcdMembersScript(cluster, living.name);
    return {
      living,
      members: parseEtcdMembers(await session.run(living, script, { seconds: ETCD_SECONDS })),
    };
  } catch (error) {
    const { SshCommandError } = await import("../../../lib/ssh/index.js");
    if (error instanceof SshCommandError && error.exitCode === ETCD_SILENT)
      throw new Transient(`etcd gives no answer on ${living.name}`, { cause: error });
    throw error;
  }
}

/**
 * Waits for one of the control planes to return etcd's members.
 *
 * @throws WaitTimeout when none does within a minute
 */
export async function etcdMembers(
  session: ClusterSession,
  cluster: string,
  controlPlanes: Machine[],
): Promise<SeenMembers> {
  return waitFor({
    what: "a control plane to tell etcd's members",
    seconds: ANSWER_SECONDS,
    signal: session.signal,
    progress: (line) => report(session.resource, line),
    probe: async () => ({ done: await seeEtcdMembers(session, cluster, controlPlanes) }),
  });
}

/** Removes a member from etcd through another control plane. */
export async function removeEtcdMember(
  session: MachinesSession,
  cluster: string,
  living: Machine,
  member: EtcdMember,
): Promise<void> {
  await session.run(living, etcdRemoveScript(cluster, living.name, member), { seconds: ETCD_SECONDS });
}

/**
 * Waits until etcd accepts a new member. Reports a dead member soon, whereas kubeadm would retry for minutes.
 *
 * @throws Error with a remedy when a member does not answer
 */
export async function awaitHealthyEtcd(
  session: ClusterSession,
  inputs: NodeGroupInputs,
  joining: string,
): Promise<void> {
  let refusal: string | undefined;
  try {
    await waitFor({
      what: "every member of etcd to answer",
      seconds: HEALTHY_SECONDS,
      signal: session.signal,
      progress: (line) => report(session.resource, line),
      probe: async () => {
        const { members } = await seeEtcdMembers(session, inputs.specification.name, inputs.controlPlanes);
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
  session: ClusterSession,
  inputs: NodeRolloutInputs,
  name: string,
): Promise<void> {
  const controlPlanes = inputs.machines.filter(({ role }) => role === "control-plane");
  const others = controlPlanes.filter((machine) => machine.name !== name);
  await waitFor<void>({
    what: `etcd to have a quorum without ${name}`,
    seconds: inputs.timeouts.ready,
    signal: session.signal,
    progress: (line) => report(session.resource, line),
    firstPauseMilliseconds: 1000,
    probe: async () => {
      const asked = others.length > 0 ? others : controlPlanes;
      const { members } = await seeEtcdMembers(session, inputs.specification.name, asked);
      const refusal = refuseMemberAbsence(members, name);
      return refusal ? { pending: refusal } : { done: undefined };
    },
  });
}
