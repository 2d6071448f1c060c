import { leaveControlPlaneScript, resetScript } from "../machine/steps";
import { CONTROL_PLANE_GROUP, type Machine } from "../plan/machine";
import { refuseMemberRemoval } from "../plan/membership/quorum";
import { SshUnreachable } from "../../../lib/ssh/errors";
import { drainNode } from "../../../lib/kubernetes/drain/drain";
import type { ClusterSession } from "./cluster-session";
import { etcdMembers, removeEtcdMember } from "./etcd-membership";
import { report } from "../../../lib/pulumi/log";
import type { NodeGroupInputs } from "./inputs";
import { nodeReference } from "./node-settings";

const LEAVE_SECONDS = 180;
const RESET_SECONDS = 300;

/** A node to remove, whose machine answers or is dead. */
interface Leaving {
  name: string;
  /** How to reach it; undefined for a Node whose machine is not in the state. */
  machine?: Machine;
  lost: boolean;
  /**
   * Its Node is missing, so the machine may be gone: if it does not answer, this is reported and it counts as removed.
   */
  mayBeGone?: boolean;
}

/**
 * Removes one node from the cluster: cordon and drain, its etcd member, kubeadm reset, and its Node last, so that the
 * next `up` finds and finishes an interrupted removal.
 *
 * @throws Error when etcd would lose its quorum, a drain is blocked, or a machine that is not listed as lost does not
 * answer
 */
export async function removeNode(
  session: ClusterSession,
  inputs: NodeGroupInputs,
  leaving: Leaving,
): Promise<void> {
  const { name, machine, lost } = leaving;
  const { kubernetes, resource } = session;
  if (!lost && !machine)
    throw new Error(
      `${name} is in the cluster, but how to reach the machine is not known; list it under \`lost\` if it is gone`,
    );
  const hasNode = (await kubernetes.get(nodeReference(name))) !== undefined;
  if (!lost && hasNode) {
    report(resource, `${name}: draining`);
    await drainNode(kubernetes, name, {
      ...inputs.drain,
      seconds: inputs.drain.timeoutSeconds,
      signal: session.signal,
      progress: (line: string) => report(resource, line),
      mayGoOn: () => session.assertMayGoOn(),
    });
  }
  await session.assertMayGoOn();
  if (inputs.group === CONTROL_PLANE_GROUP) await leaveEtcd(session, inputs, leaving);
  if (!lost && machine) {
    await reset(session, inputs, machine).catch((error: unknown) => {
      if (hasNode || !leaving.mayBeGone || !(error instanceof SshUnreachable)) throw error;
      report(
        resource,
        `not reset: ${name}; run "kubeadm reset" there if this machine still exists: ${error.message}`,
      );
    });
  }
  await kubernetes.delete(nodeReference(name));
  report(resource, `${name} removed`);
}

async function reset(session: ClusterSession, inputs: NodeGroupInputs, machine: Machine): Promise<void> {
  const script = resetScript(inputs.specification.name, machine.name);
  await session.run(machine, script, { seconds: RESET_SECONDS });
}

/**
 * Removes a control plane from etcd: stops its API server, then removes its member through a control plane that stays.
 */
async function leaveEtcd(
  session: ClusterSession,
  inputs: NodeGroupInputs,
  { name, machine, lost }: Leaving,
): Promise<void> {
  const cluster = inputs.specification.name;
  const staying = inputs.controlPlanes.filter((other) => other.name !== name);
  const { living, members } = await etcdMembers(session, cluster, staying);
  const member = members.find((candidate) => candidate.name === name);
  if (!member) return;
  const refusal = refuseMemberRemoval(members, name);
  if (refusal) throw new Error(refusal);
  if (!lost && machine) {
    await session.run(machine, leaveControlPlaneScript(cluster, name), { seconds: LEAVE_SECONDS });
  }
  await removeEtcdMember(session, cluster, living, member);
}
