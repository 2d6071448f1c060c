import { setTimeout as pause } from "node:timers/promises";
import { tryEviction } from "../../../../lib/kubernetes";
import { PartialFailure } from "../../../../lib/pulumi/failure";
import { SshUnreachable } from "../../../../lib/ssh/errors";
import { machineOfStep } from "../../../../lib/steps/steps";
import { leaveControlPlaneScript, resetScript } from "../../machine/steps";
import { CONTROL_PLANE_GROUP, type Machine, withKeysOfLeaving } from "../../plan/cluster/machine";
import {
  dnsPodsToMove,
  type ObservedNode,
  untaintedMachines,
  withOwnership,
} from "../../plan/membership/nodes";
import type { RecordedMachine } from "../../plan/facts/ownership";
import { isRemoval, planMembership, recordedInPools } from "../../plan/membership/plan";
import { hasMoved } from "../../plan/membership/moved";
import { refuseMemberRemoval } from "../../plan/membership/quorum";
import type { NodeGroupStep } from "../../plan/steps";
import { ClusterSession, nodeReference } from "../session/cluster-session";
import type { NodeGroupInputs, NodeGroupOutputs } from "../declarations";
import { etcdMembers, removeEtcdMember } from "./etcd-membership";
import { allInParallel } from "../session/machines-session";
import { joinAll } from "./node-joining";
import { applyNodeSettings } from "./node-settings";
import { readReportedFacts } from "../cluster/rebooting";
import { assertNotReset } from "../cluster/reset-machines";
import { beginRemoval, endRemoval } from "./node-removal";
import { nodeOutputs, observeNode, observeNodes } from "./observed-nodes";
import { messageOf } from "../../../../lib/error-message";

const LEAVE_SECONDS = 180;
const RESET_SECONDS = 300;

type Session = ClusterSession<NodeGroupInputs>;

/**
 * Brings one node group to its desired machines, in the order of planMembership.
 *
 * @param recorded machines of this group from earlier runs, with how to reach them
 * @param isDeleted whether the group itself is deleted: then an unreachable machine without a Node is only reported
 * @throws PartialFailure with what was done before a failure, so that the next `up` continues from there
 */
export async function convergeNodeGroup(
  id: string,
  resource: string,
  recorded: Pick<NodeGroupOutputs, "members"> & Partial<NodeGroupOutputs>,
  given: NodeGroupInputs,
  isDeleted = false,
): Promise<NodeGroupOutputs> {
  const { members } = recorded;
  const state = new Map([...members, ...given.machines].map((machine) => [machine.name, machine]));
  const { interrupted = [], reset = [] } = given;
  const names = members.map(({ name }) => name);
  const leaving = names.filter((name) => !given.machines.some((machine) => machine.name === name));
  const credentials = withKeysOfLeaving(given.credentials, recorded.credentials, leaving);
  const inputs = { ...given, credentials };
  let step = "reach the cluster";
  let session: Session | undefined;
  let observed: ObservedNode[] = [];
  const outputs = () => ({
    ...given,
    members: [...state.values()],
    nodes: nodeOutputs(given.machines, observed),
  });
  try {
    const open = (session = await ClusterSession.open(resource, inputs));
    observed = await observeNodes(open.kubernetes);
    const { group, machines: desired, former, lost, adopted, owned = {} } = inputs;
    const elsewhere = [...(inputs.elsewhere ?? []), ...recordedInPools(recorded)];
    const begun = new Map(interrupted.map((machine) => [machine.name, machine]));
    const own = withOwnership(observed, owned);
    const { steps } = planMembership({
      group,
      desired,
      recorded: names,
      former,
      interrupted,
      lost,
      elsewhere,
      adopted,
      gone: { reset },
      untainted: untaintedMachines(inputs.specification, desired),
      observed: own,
    });
    for (const name of names) if (hasMoved({ name, group, elsewhere, observed: own })) state.delete(name);
    const isMember = (name: string) => own.some((node) => node.name === name && node.group !== undefined);
    if (names.length === 0)
      await assertNotReset(
        open,
        desired.filter(({ name }) => isMember(name)),
      );
    const machinesOf = (...kinds: NodeGroupStep["kind"][]) => {
      const due = steps.filter(({ kind }) => kinds.includes(kind)).map(machineOfStep);
      return desired.filter(({ name }) => due.includes(name));
    };
    const named = (machines: Machine[]) => machines.map(({ name }) => name).join(", ");
    const remove = async (kind: "lose" | "remove") => {
      for (const { machine: name } of steps.filter(isRemoval).filter((each) => each.kind === kind)) {
        step = `remove ${name}`;
        await open.assertMayGoOn();
        const machine = state.get(name) ?? begun.get(name);
        await removeNode(open, group, { name, machine, lost: kind === "lose", mayBeGone: isDeleted });
        state.delete(name);
      }
    };

    await remove("lose");
    await forgetLost(open, observed);

    const joining = machinesOf("join", "joinControlPlane");
    step = `join ${named(joining) || "nothing"}`;
    await joinAll(open, joining, names);
    if (steps.some(({ kind }) => kind === "spreadDns")) await spreadClusterDns(open);

    const changing = machinesOf("settings");
    step = `set labels and taints of ${named(changing)}`;
    await allInParallel(changing, (machine) => applyNodeSettings(open, machine));

    const kept = machinesOf("keep");
    step = `keep ${named(kept)}`;
    await assertNotReset(open, kept, "removal");
    for (const { name } of kept) {
      step = `keep ${name}`;
      await endRemoval(open, name);
    }

    await remove("remove");
    observed = await observeNodes(open.kubernetes);
    return outputs();
  } catch (error) {
    // the next run needs the keys of machines that have not left yet
    throw new PartialFailure(id, { ...outputs(), credentials }, { resource, step }, error);
  } finally {
    await session?.end();
  }
}

/**
 * Deletes the Nodes of lost machines whose pool is no longer configured: the pool's own deletion has no list of them.
 */
async function forgetLost(session: Session, observed: ObservedNode[]): Promise<void> {
  const { leaving = {}, lost } = session.inputs;
  for (const { name, group } of observed) {
    if (group === undefined || !(group in leaving) || !lost.includes(name)) continue;
    await session.assertMayGoOn();
    await removeNode(session, group, { name, lost: true });
  }
}

/** A node to remove, whose machine answers or is dead. */
interface Leaving {
  name: string;
  /** How to reach it; undefined for a Node whose machine is not in the state. */
  machine?: RecordedMachine | undefined;
  lost: boolean;
  /**
   * Its Node is missing, so the machine may be gone: if it does not answer, this is reported and it counts as removed.
   */
  mayBeGone?: boolean;
}

/**
 * Removes one node from the cluster: cordon and drain, the wait for its volumes, its etcd member, kubeadm reset, and its Node last, so that the
 * next `up` finds and finishes an interrupted removal.
 *
 * @throws Error when etcd would lose its quorum, a drain is blocked, or a machine that is not listed as lost does not
 * answer
 */
async function removeNode(session: Session, group: string, leaving: Leaving): Promise<void> {
  const { name, machine, lost } = leaving;
  const { kubernetes } = session;
  if (!lost && !machine)
    throw new Error(
      `${name} is in the cluster, but how to reach the machine is not known; list it under \`lost\` if it is gone`,
    );
  const node = await kubernetes.getNode(name);
  const hasNode = node !== undefined;
  if (!lost && hasNode) {
    await beginRemoval(session, observeNode(node));
    if (await wasReset(session, observeNode(node), machine))
      session.progress(`${name} was reset by others, with its pods: it is not drained`);
    else {
      await session.drain(name, session.inputs.drain);
      await session.untilDetached(name, session.inputs.drain);
    }
  }
  await session.assertMayGoOn();
  if (group === CONTROL_PLANE_GROUP) await leaveEtcd(session, leaving);
  if (!lost && machine) {
    const reset = session.run(machine, resetScript, { seconds: RESET_SECONDS });
    await reset.catch((error: unknown) => {
      if (hasNode || !leaving.mayBeGone || !(error instanceof SshUnreachable)) throw error;
      session.progress(
        `not reset: ${name}; run "kubeadm reset" there if this machine still exists: ${error.message}`,
      );
    });
  }
  await kubernetes.delete(nodeReference(name));
  session.progress(`${name} removed`);
}

/** How long the pods of a machine that may not answer wait for their drain. */
const LONGEST_ANSWER_MILLISECONDS = 20_000;

/** Returns whether the kubelet of a Node is gone with all that it ran: its pods would never be reported to have ended. */
async function wasReset(
  session: Session,
  { ready }: ObservedNode,
  machine: RecordedMachine | undefined,
): Promise<boolean> {
  if (ready || machine === undefined) return false;
  // a machine that does not answer, or is not this one, fails where it is to be reset
  const facts = await Promise.race([
    readReportedFacts(session, machine).catch(() => undefined),
    pause(LONGEST_ANSWER_MILLISECONDS, undefined, { ref: false }),
  ]);
  return facts?.reset === true;
}

/**
 * Removes a control plane from etcd: stops its API server, then removes its member through a control plane that stays.
 */
async function leaveEtcd(session: Session, { name, machine, lost }: Leaving): Promise<void> {
  const staying = session.inputs.controlPlanes.filter((other) => other.name !== name);
  const { living, members } = await etcdMembers(session, staying);
  const member = members.find((candidate) => candidate.name === name);
  if (!member) return;
  const refusal = refuseMemberRemoval(members, name);
  if (refusal) throw new Error(refusal);
  if (!lost && machine) await session.run(machine, leaveControlPlaneScript, { seconds: LEAVE_SECONDS });
  await removeEtcdMember(session, living, member);
}

const DNS_PODS = { namespace: "kube-system", labelSelector: "k8s-app=kube-dns" };

/**
 * Spreads the DNS pods when all are on one node, with the eviction API; the scheduler then prefers another node. A pod
 * that can't be moved now is only reported, since the nodes have joined anyway.
 */
async function spreadClusterDns({ kubernetes, progress }: Session): Promise<void> {
  try {
    const [pods, nodes] = await Promise.all([kubernetes.listPods(DNS_PODS), observeNodes(kubernetes)]);
    const takers = nodes.filter(({ ready, unschedulable }) => ready && !unschedulable);
    const moving = dnsPodsToMove(
      pods,
      takers.map(({ name }) => name),
    );
    for (const pod of moving) {
      const evicted = await tryEviction(kubernetes, pod);
      if ("pending" in evicted) throw new Error(evicted.pending);
      const from = `${pod.metadata?.name} away from ${pod.spec?.nodeName}`;
      progress(`moved ${from}, where all of the cluster's DNS was`);
    }
  } catch (error) {
    progress(`the cluster's DNS stays on one node: ${messageOf(error)}`);
  }
}
