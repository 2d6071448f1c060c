import type { KubernetesClient, Node } from "../../../../lib/kubernetes";
import { blockedDrains, type Budget } from "../../../../lib/kubernetes/drain/plan";
import {
  completedVersion,
  configurationVersions,
  type ConfigurationVersions,
  versionFor,
} from "../../plan/configuration/configuration";
import { snapshotMachine, withSnapshot } from "../../plan/backup/backup";
import type { Machine } from "../../plan/cluster/machine";
import { memberOf, patchFolders, specificationOf } from "../../plan/cluster/pools";
import { dueRenewal } from "../../plan/certificates/report";
import { CONFIGURATION } from "../../plan/rollout/annotations";
import { leftOutStep } from "../../plan/rollout/state";
import { nodeAtRest, observeRolloutNode, type RolloutNode } from "../../plan/rollout/observed";
import { planRollout, type RolloutPlan } from "../../plan/rollout/plan";
import { reservationRefusals } from "../../plan/rollout/reserved";
import { runtimeRefusals, versionsOnRuntimes } from "../../plan/rollout/runtimes";
import { ignoresRequest } from "../../plan/rollout/silent-agent";
import { previewStep } from "../../plan/rollout/step-lines";
import {
  furtherSoftware,
  desiredRollout,
  refuseUnstaged,
  type DesiredRollout,
} from "../../plan/rollout/desired";
import { nodeRolloutSteps, type NodeRolloutStep } from "../../plan/steps";
import { stepsOfUnread } from "../../../../lib/steps/steps";
import { formatPath } from "../../../../lib/validation/validation-issue";
import type { NodeOutput, NodeRolloutInputs } from "../declarations";
import { clusterVersion } from "../configuration/kubeadm-config";
import { unreachedMachines } from "../session/machines-session";
import { nodeOutputs, observeNode } from "../membership/observed-nodes";
import { endedKubelets } from "../certificates/kubelets";
import {
  certificateNotes,
  renewBeforeDays,
  renewingNodes,
  withCertificateEnds,
} from "../certificates/rollout";
import { updateNotes, type UpdatesPreview, updatesPreview, withUpdates } from "../updates/rollout";
import { readForCheck } from "../session/preview-reading";
import type { ClusterReading } from "../session/shared-reading";

/** The cluster as observed for a rollout, and the desired state. */
export interface RolloutObservation {
  nodes: RolloutNode[];
  desired: DesiredRollout;
  /** Workers to leave out regardless of their Nodes: the preview left them out, or SSH did not reach them. */
  unreached: string[];
  /** The members, for the stack's outputs. */
  outputs: NodeOutput[];
}

/** Observes the cluster for a rollout, with two calls. @param source of the Nodes, which others may share */
export async function observeRollout(
  kubernetes: KubernetesClient,
  inputs: NodeRolloutInputs,
  source: Pick<KubernetesClient, "listNodes"> = kubernetes,
): Promise<RolloutObservation> {
  const { specification, machines, leftOut = [] } = inputs;
  const [objects, version] = await Promise.all([source.listNodes(), clusterVersion(kubernetes)]);
  const nodes = observedNodes(objects, inputs);
  return {
    nodes,
    desired: desiredOf(inputs, version),
    unreached: [...leftOut, ...unreachedMachines(specification.name)],
    outputs: withCertificateEnds(nodeOutputs(machines, objects.map(observeNode)), nodes),
  };
}

/** Returns the Nodes as a rollout sees them. */
export function observedNodes(objects: readonly Node[], inputs: NodeRolloutInputs): RolloutNode[] {
  const pools = new Map(inputs.machines.map(({ name, group }) => [name, group]));
  return objects.map((object) => {
    const node = observeRolloutNode(object, inputs.rollout.annotations, inputs.drift === "repair");
    // a machine that moved gets the label of its pool before the rollout
    const pool = pools.get(node.name) ?? node.pool;
    return withUpdates(withRenewal({ ...withBaseline(node, inputs), pool }, inputs), inputs);
  });
}

/** Returns a node with the request for its agent if the preview said that its certificates are renewed. */
function withRenewal(node: RolloutNode, inputs: NodeRolloutInputs): RolloutNode {
  if (!inputs.renewing?.includes(node.name)) return node;
  const renewal = dueRenewal(node.certificates, renewBeforeDays(inputs), new Date());
  return renewal === undefined ? node : { ...node, renewal };
}

/** Returns a node as it is once its kubelet has a new certificate, which the run begins with. */
function withNewKubeletCertificate(node: RolloutNode, kubelets: readonly { machine: string }[]): RolloutNode {
  if (!kubelets.some(({ machine }) => machine === node.name)) return node;
  const { unreachable: _, ...reached } = node;
  return { ...reached, ready: true };
}

/** Returns a node with the configuration that it has if it reports none, or not all parts of it. */
function withBaseline(node: RolloutNode, { configuration }: NodeRolloutInputs): RolloutNode {
  if (configuration === undefined) return node;
  const baseline = versionFor(configuration.baseline, memberOf(node.pool));
  const completed = (versions: RolloutNode["current"]) => {
    const version = versions[CONFIGURATION];
    return version === undefined
      ? versions
      : { ...versions, [CONFIGURATION]: completedVersion(version, baseline) };
  };
  const current = completed({ [CONFIGURATION]: baseline, ...node.current });
  return { ...node, current, desired: completed(node.desired) };
}

function desiredOf(
  { specification, machines, rollout, leavingLater, configuration: rolled, drift }: NodeRolloutInputs,
  version: string | undefined,
): DesiredRollout {
  const configuration = rolled && configurationVersions(specification, rolled);
  return desiredRollout(
    specification.version,
    machines,
    { ...rollout, leavingLater, configuration, repairs: drift === "repair" },
    version,
  );
}

/** Why the kubelet would not start on some Nodes, with the path of its settings. */
interface Unfit {
  property: string;
  reason: string;
}

/** What a rollout will do. */
interface RolloutPreview extends UpdatesPreview {
  steps: NodeRolloutStep[];
  refusals: string[];
  /** Why no node may begin until a person does something. */
  stuck: string[];
  /** Why the kubelet would not start on some Nodes with its new configuration. */
  unfit: Unfit[];
  /** Remarks that are not steps, since they may change at any time. */
  notes: string[];
  /** Names of unreachable workers; each has a line among the steps. */
  leftOut: string[];
  /** Names of the control planes whose certificates are renewed; absent for none. */
  renewing?: string[];
  /** Names of the machines whose kubelets get new certificates; absent for none. */
  renewingKubelets?: string[];
}

const NOTHING: RolloutPreview = { steps: [], refusals: [], stuck: [], unfit: [], notes: [], leftOut: [] };

/**
 * Returns the rollout as it would run now, from the cluster, or from the state if the cluster can't be read. A cluster
 * that does not exist yet has no rollout: it is created at the desired version.
 */
export async function previewRollout(
  resource: string,
  olds: Partial<NodeRolloutInputs>,
  news: NodeRolloutInputs,
): Promise<RolloutPreview> {
  const live = await readForCheck(resource, olds, news, (cluster) =>
    fromCluster(resource, cluster, olds, news),
  );
  if (live === undefined) return NOTHING;
  if (live.facts) return live.facts;
  const preview = fromState(olds, news);
  const configured = news.machines.map(({ name }) => name);
  const recorded = (olds.machines ?? []).map(({ name }) => name).filter((name) => configured.includes(name));
  const { steps: known } = preview;
  const { reportingUpdates } = olds;
  const steps = stepsOfUnread({
    why: live.unread,
    steps: known,
    recorded,
    what: "the versions that it runs",
  });
  return { ...preview, steps, ...(news.rollout.osUpdates && reportingUpdates ? { reportingUpdates } : {}) };
}

/** Returns the plan from the running cluster. */
async function fromCluster(
  resource: string,
  cluster: ClusterReading,
  olds: Partial<NodeRolloutInputs>,
  news: NodeRolloutInputs,
): Promise<RolloutPreview> {
  const { kubernetes } = cluster;
  const { nodes: observed, desired } = await observeRollout(kubernetes, news, cluster);
  const kubelets = await endedKubelets(resource, observed, news);
  const due = renewingNodes(observed, news);
  const updates = updatesPreview(observed, olds, news);
  const nodes = observed.map((node) =>
    withUpdates(withRenewal(withNewKubeletCertificate(node, kubelets), { ...news, renewing: due }), updates),
  );
  const present = nodes.map(({ name }) => name);
  // machines that will have joined before the rollout begins, at the version that the cluster has until then
  const version = desired.clusterVersion ?? nodes.find(({ controlPlane }) => controlPlane)?.kubeletVersion;
  const joining = version === undefined ? [] : news.machines.filter(({ name }) => !present.includes(name));
  // they join with the configuration that the cluster has by then
  const members = [
    ...nodes,
    ...joining.map((machine) => memberAt(machine, version ?? "", desired.configuration)),
  ];
  const plan = planRollout(members, desired, { agents: "assumed" });
  const changed = new Set(plan.steps.map(({ node }) => node));
  const renewing = plan.steps.filter(({ renews }) => renews !== undefined).map(({ node }) => node);
  const silent = nodes
    .filter(({ name, agentReady }) => changed.has(name) && agentReady === undefined)
    .map(({ name }) => `the node agent of ${name} has not reported yet; the rollout waits for it`);
  const ignored = nodes
    .filter((node) => changed.has(node.name) && ignoresRequest(node))
    .map(
      ({ name }) =>
        `the node agent of ${name} has not begun what an earlier run asked for; this run starts it if it does not run`,
    );
  const hasDrift = nodes.some(({ drift }) => drift !== undefined);
  const drifted = hasDrift ? await (await import("../drift/drift.js")).driftNotes(nodes, news) : [];
  const drained = new Set(plan.steps.filter(({ drains }) => drains).map(({ node }) => node));
  const blocked = drained.size > 0 ? await drainBlockers(kubernetes, [...drained], news) : [];
  const unfit = await unfitNodes(cluster, plan, news);
  const runtimes = await unfitRuntimes(cluster, plan);
  const preview = described(plan, desired, news);
  const certificates = certificateNotes(nodes, plan, news);
  const pending = updateNotes(nodes, plan.steps, olds, news);
  return {
    ...preview,
    ...updates,
    refusals: [...preview.refusals, ...runtimes],
    unfit,
    notes: [...preview.notes, ...silent, ...ignored, ...blocked, ...drifted, ...certificates, ...pending],
    steps: [...kubelets, ...preview.steps],
    ...(renewing.length > 0 ? { renewing } : {}),
    ...(kubelets.length > 0 ? { renewingKubelets: kubelets.map(({ machine }) => machine) } : {}),
  };
}

function memberAt(
  machine: Machine,
  version: string,
  configuration?: ConfigurationVersions,
  member: Pick<Machine, "role" | "group"> = machine,
): RolloutNode {
  const { name, role, group } = machine;
  const node = nodeAtRest({
    name,
    controlPlane: role === "control-plane",
    pool: group,
    kubeletVersion: version,
  });
  if (configuration === undefined) return node;
  return { ...node, current: { [CONFIGURATION]: versionFor(configuration, member) } };
}

/** Returns the plan without the cluster: all machines at the version of the state. */
function fromState(olds: Partial<NodeRolloutInputs>, news: NodeRolloutInputs): RolloutPreview {
  const version = olds.specification?.version;
  if (version === undefined) return NOTHING;
  const desired = desiredOf(news, version);
  const before = olds.specification && configurationVersions(olds.specification, news.configuration);
  const recorded = new Map((olds.machines ?? []).map((machine) => [machine.name, machine]));
  const nodes = news.machines.map((machine) => {
    const node = memberAt(machine, version, before, recorded.get(machine.name));
    return { ...node, current: { ...node.current, ...(olds.rollout ? furtherSoftware(olds.rollout) : {}) } };
  });
  return described(planRollout(nodes, desired, { agents: "assumed" }), desired, news);
}

function described(
  { steps, refusals, standstill, mayPass, notes, leftOut, held }: RolloutPlan,
  desired: DesiredRollout,
  { machines, backup }: Pick<NodeRolloutInputs, "machines" | "backup">,
): RolloutPreview {
  const lines = withSnapshot(steps, steps.map(previewStep), snapshotMachine(machines)?.name, backup);
  const unstaged = refuseUnstaged(steps, desired) ?? [];
  return {
    steps: [...lines, ...held, ...leftOut.map(leftOutStep)],
    refusals: refusals.concat(unstaged),
    stuck: standstill !== undefined && !mayPass && steps.length === 0 ? [standstill] : [],
    unfit: [],
    notes: standstill === undefined ? notes : [...notes, `not every node can change: ${standstill}`],
    leftOut: leftOut.map(({ node }) => node),
  };
}

/** Asks what the machines have that get another configuration. */
async function unfitNodes(
  cluster: ClusterReading,
  { steps }: Pick<RolloutPlan, "steps">,
  { specification, adopted, machines }: NodeRolloutInputs,
): Promise<Unfit[]> {
  const changes = steps.filter(({ software }) => software.some(({ name }) => name === CONFIGURATION));
  const names = new Set(changes.map(({ node }) => node));
  if (names.size === 0) return [];
  const { init, join } = patchFolders(specification);
  // the kubelets of these clusters have more than the specification says
  if (adopted === true || init !== undefined || join !== undefined) return [];
  const nodes = await cluster.listNodes();
  const changing = machines.filter(({ name }) => names.has(name));
  const own = (group: string) => specification.pools?.[group]?.kubelet !== undefined;
  // machines of pools without settings of their own are refused together
  const kubelets = new Set(changing.map(({ group }) => (own(group) ? group : undefined)));
  return [...kubelets].flatMap((pool) => {
    const of = changing.filter(({ group }) => (pool === undefined ? !own(group) : group === pool));
    const { kubelet } = pool === undefined ? specification : specificationOf(specification, memberOf(pool));
    const refusals = reservationRefusals(
      nodes.filter(({ metadata }) => of.some(({ name }) => name === metadata?.name)),
      kubelet,
    );
    const property = formatPath(["cluster", ...(pool === undefined ? [] : ["pools", pool]), "kubelet"]);
    return refusals.map((reason) => ({ property, reason }));
  });
}

/** Asks which container runtimes the nodes have that get another version of Kubernetes. */
async function unfitRuntimes(cluster: ClusterReading, plan: Pick<RolloutPlan, "steps">): Promise<string[]> {
  const targets = versionsOnRuntimes(plan.steps);
  if (targets.size === 0) return [];
  const nodes = await cluster.listNodes();
  const runtimes = nodes.map(
    ({ metadata, status }) =>
      [metadata?.name ?? "", status?.nodeInfo?.containerRuntimeVersion ?? ""] as const,
  );
  return runtimeRefusals(new Map(runtimes), targets);
}

async function drainBlockers(
  kubernetes: KubernetesClient,
  nodes: string[],
  { drain }: NodeRolloutInputs,
): Promise<string[]> {
  try {
    const [pods, budgets] = await Promise.all([
      kubernetes.listPodsForDrain(),
      kubernetes.list<Budget>({ apiVersion: "policy/v1", kind: "PodDisruptionBudget" }),
    ]);
    return blockedDrains(nodes, pods, budgets, drain).map((blocked) =>
      nodeRolloutSteps.format({ kind: "drainBlocked", ...blocked }),
    );
  } catch (error) {
    // these are only notes; the steps do not depend on them
    return [`what would block the drains could not be read: ${(error as Error).message}`];
  }
}
