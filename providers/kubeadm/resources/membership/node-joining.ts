import { randomInt } from "node:crypto";
import type { KubernetesClient } from "../../../../lib/kubernetes";
import { despiteInterrupt } from "../../../../lib/process/interruption";
import {
  certificateNames,
  discoveryKubeconfig,
  joinConfiguration,
} from "../../machine/configuration/configuration";
import { certificateAuthority } from "../../machine/cluster/kubeconfig";
import * as steps from "../../machine/steps";
import { CONTROL_PLANE_GROUP, CONTROL_PLANE_LABELS, type Machine } from "../../plan/cluster/machine";
import { otherRole } from "../../plan/membership/other-role";
import { hasLostRole } from "../../plan/membership/nodes";
import { staleMember } from "../../plan/membership/quorum";
import { agentOfJoin, installAgentOfMember } from "./agent-installation";
import { type ClusterSession, nodeReference } from "../session/cluster-session";
import type { NodeGroupInputs } from "../declarations";
import {
  awaitHealthyEtcd,
  etcdMembers,
  type Joining,
  removeEtcdMember,
  untilVotingMember,
} from "./etcd-membership";
import { addCertificateNames, clusterVersion } from "../configuration/kubeadm-config";
import { allInParallel, readyControlPlane, throwAll } from "../session/machines-session";
import { applyNodeSettings, groupTaints, writeNodeSettings } from "./node-settings";
import { observeNode } from "./observed-nodes";
import { assertClock, readReportedFacts, rebootIfRequired } from "../cluster/rebooting";

type Session = ClusterSession<NodeGroupInputs>;

/** Returns the settings of the agent that a machine gets from its group; undefined for none. */
type AgentsOf = (machine: Machine) => NodeGroupInputs["agents"];

/**
 * Joins machines to a running cluster: workers in parallel, each control plane as soon as the one before it is a voting
 * member of etcd. Each becomes Ready beside the joins after it.
 *
 * @param recorded names of machines that earlier runs joined: their agents stay as they are
 */
export async function joinAll(
  session: Session,
  machines: Machine[],
  recorded: readonly string[],
): Promise<void> {
  const { agents, group, specification } = session.inputs;
  // behind a proxy, one group does not know the addresses of all machines, so the NodeAgents install the agents
  const isLeft = specification.proxy !== undefined;
  const agentsOf: AgentsOf = ({ name }) => (isLeft || recorded.includes(name) ? undefined : agents);
  if (group === CONTROL_PLANE_GROUP) return joinControlPlanes(session, machines, recorded, agentsOf);
  await allInParallel(machines, async (machine) => {
    if (!(await prepareJoin(session, machine, recorded))) return completeMember(session, machine, agentsOf);
    await join(session, machine, agentsOf);
    await complete(session, machine);
  });
}

/** Joins control planes in their order, and completes each beside the joins after it. After a failure, no other begins. */
async function joinControlPlanes(
  session: Session,
  machines: Machine[],
  recorded: readonly string[],
  agentsOf: AgentsOf,
): Promise<void> {
  const errors: unknown[] = [];
  const note = (error: unknown) => {
    if (!errors.includes(error)) errors.push(error);
  };
  const work: Promise<void>[] = [];
  const joining = new Set<Machine>();
  for (const machine of machines) {
    if (errors.length > 0) break;
    try {
      if (!(await prepareJoin(session, machine, recorded, joining))) {
        work.push(completeMember(session, machine, agentsOf).catch(note));
        continue;
      }
      const secrets = await controlPlaneSecrets(session, machine, joining);
      // the join before this one may have failed meanwhile
      if (errors.length > 0) break;
      const joined = join(session, machine, agentsOf, { secrets, overlaps: joining.size > 0 });
      joining.add(machine);
      joined.finally(() => joining.delete(machine)).catch(() => undefined);
      work.push(joined.then(() => complete(session, machine)).catch(note));
      if (machine !== machines.at(-1)) await untilVotingMember(session, machine, joined);
    } catch (error) {
      note(error);
    }
  }
  await Promise.all(work);
  throwAll(errors);
}

/**
 * Prepares a machine for its join. Returns false for a machine that is a member already, which only registers again if
 * needed.
 */
async function prepareJoin(
  session: Session,
  machine: Machine,
  recorded: readonly string[],
  joining?: Joining,
): Promise<boolean> {
  const facts = await readReportedFacts(session, machine);
  await session.assertMayGoOn();
  if (facts.member) {
    assertRole(machine, facts);
    if (recorded.includes(machine.name) || (await isInCluster(session, machine, joining))) {
      await registerAgain(session, machine);
      return false;
    }
    session.progress(`${machine.name} was given up while it did not answer, and joins again`);
    await session.run(machine, steps.forgetMembershipScript);
  }
  assertClock(machine, facts);
  await rebootIfRequired(session, machine, facts);
  await clearCutOffJoin(session, machine, joining);
  return true;
}

const hasNode = async ({ kubernetes }: Session, { name }: Machine) =>
  (await kubernetes.get(nodeReference(name))) !== undefined;

/** Returns whether the cluster has a machine: as a Node, or as a member of etcd, whose data would be lost. */
async function isInCluster(session: Session, machine: Machine, joining?: Joining): Promise<boolean> {
  if (await hasNode(session, machine)) return true;
  if (machine.role !== "control-plane") return false;
  const { members } = await etcdMembers(session, session.inputs.controlPlanes, joining);
  return staleMember(members, machine) !== undefined;
}

/** Refuses a machine that an interrupted run joined with the other role: its Node has no group's label that would say so. */
function assertRole(machine: Machine, { controlPlane }: steps.ReportedFacts): void {
  if (controlPlane !== (machine.role === "control-plane")) throw new Error(otherRole(machine));
}

/**
 * Joins one prepared machine to the cluster, and installs its agent.
 *
 * @param secrets the shared keys, for a control plane
 * @param overlaps whether the join of another control plane has not ended
 */
async function join(
  session: Session,
  machine: Machine,
  agentsOf: AgentsOf,
  { secrets, overlaps = false }: { secrets?: string; overlaps?: boolean } = {},
): Promise<void> {
  const { inputs, kubernetes } = session;
  const started = Date.now();
  const version = (await clusterVersion(kubernetes)) ?? inputs.specification.version;
  const specification = { ...inputs.specification, version };
  const discovery = discoveryKubeconfig(specification, certificateAuthority(inputs.kubeconfig));
  const agents = agentsOf(machine);
  const agent = agents && agentOfJoin(session, machine, version, agents);
  await withBootstrapToken(kubernetes, `foresail: join of ${machine.name}`, async (token) => {
    const configuration = joinConfiguration(specification, machine, token, overlaps);
    const data = steps.joinData({ configuration, discovery, secrets });
    const settings = { agent: agent?.parameters, rolled: inputs.configuration };
    const script = steps.joinScript(specification, machine, settings);
    const answer = await session.run(machine, script, { seconds: inputs.timeouts.join, data });
    agent?.note(answer);
  });
  session.progress(`${machine.name} joined, ${Math.round((Date.now() - started) / 1000)} s`);
}

/** Waits for one member to become Ready, then labels it: the group's label comes last and marks a complete join. */
async function complete(session: Session, machine: Machine): Promise<void> {
  await becomeReady(session, machine);
  await applyNodeSettings(session, machine);
  session.progress(`${machine.name} is Ready`);
}

/** Completes a machine that is a member already, and installs its agent meanwhile. */
async function completeMember(session: Session, machine: Machine, agentsOf: AgentsOf): Promise<void> {
  const agents = agentsOf(machine);
  const installed = agents && installAgentOfMember(session, machine, agents);
  await complete(session, machine).finally(() => installed);
}

async function becomeReady(session: Session, machine: Machine): Promise<void> {
  const { inputs } = session;
  await session.untilNode(
    machine.name,
    `Node ${machine.name} to be Ready`,
    inputs.timeouts.ready,
    (object) => {
      if (!object) return { pending: "it has not registered" };
      const { ready, reason = "the kubelet has not reported" } = observeNode(object);
      return ready ? { done: undefined } : { pending: reason };
    },
  );
}

/**
 * Restarts the kubelet of a member whose Node was deleted, so that it registers again. A control plane gets its role
 * back before it is Ready, so that no workload is scheduled to it.
 */
async function registerAgain(session: Session, machine: Machine): Promise<void> {
  const { name } = machine;
  if (!(await hasNode(session, machine))) {
    await session.run(machine, steps.registerScript);
    const { ready } = session.inputs.timeouts;
    await session.untilNode(name, `Node ${name} to register`, ready, (object) =>
      object ? { done: undefined } : { pending: "it has not registered" },
    );
  }
  await writeNodeSettings(session, name, (node) =>
    hasLostRole(machine, node)
      ? { labels: CONTROL_PLANE_LABELS, taints: groupTaints(session, machine, node) }
      : {},
  );
}

/** Removes what an interrupted join left in the cluster: its Node, and for a control plane its etcd member. */
async function clearCutOffJoin(session: Session, machine: Machine, joining?: Joining): Promise<void> {
  const { kubernetes, inputs } = session;
  const node = await kubernetes.getNode(machine.name);
  if (node) {
    const { internalAddress } = observeNode(node);
    if (internalAddress !== "" && internalAddress !== machine.internalAddress)
      throw new Error(
        `the cluster has a Node ${machine.name} at ${internalAddress}, which is not this machine (${machine.internalAddress}); give the machine another name, or delete that Node if it is dead`,
      );
    await kubernetes.delete(nodeReference(machine.name));
  }
  if (machine.role !== "control-plane") return;
  const { living, members } = await etcdMembers(session, inputs.controlPlanes, joining);
  const stale = staleMember(members, machine);
  if (stale) await removeEtcdMember(session, living, stale);
}

/**
 * Waits until etcd accepts a new control plane, whose addresses the certificates of the API servers then include.
 * Returns the shared keys of the control planes, read from a ready one.
 */
async function controlPlaneSecrets(session: Session, machine: Machine, joining: Joining): Promise<string> {
  const { controlPlanes } = session.inputs;
  await awaitHealthyEtcd(session, machine.name, joining);
  await addCertificateNames(session.kubernetes, certificateNames(machine));
  const living = await readyControlPlane(controlPlanes);
  return (await session.run(living, steps.controlPlaneSecretsScript)).trim();
}

const TOKEN_MINUTES = 15;
const TOKEN_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";

const randomWord = (length: number) =>
  Array.from({ length }, () => TOKEN_LETTERS[randomInt(TOKEN_LETTERS.length)]).join("");

/** Returns a new bootstrap token, valid for 15 minutes, and its Secret in kubeadm's form. */
export function newBootstrapToken(purpose: string) {
  const [id, secret] = [randomWord(6), randomWord(16)];
  const object = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: "kube-system", name: `bootstrap-token-${id}` },
    type: "bootstrap.kubernetes.io/token",
    stringData: {
      description: purpose,
      "token-id": id,
      "token-secret": secret,
      expiration: new Date(Date.now() + TOKEN_MINUTES * 60_000).toISOString(),
      "usage-bootstrap-authentication": "true",
      "usage-bootstrap-signing": "true",
      "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token",
    },
  };
  return { token: `${id}.${secret}`, object };
}

/** Does the work with a bootstrap token of its own, which is deleted afterwards. */
async function withBootstrapToken(
  kubernetes: KubernetesClient,
  purpose: string,
  work: (token: string) => Promise<void>,
): Promise<void> {
  const { token, object } = newBootstrapToken(purpose);
  const { apiVersion, kind, metadata } = object;
  try {
    await kubernetes.create(object);
    await work(token);
  } finally {
    // also after a failed call: even if the response was lost, the token may exist
    await despiteInterrupt(() => kubernetes.delete({ apiVersion, kind, ...metadata }));
  }
}
