import type { KubernetesClient } from "../../../../lib/kubernetes";
import { blockedDrains, type Budget } from "../../../../lib/kubernetes/drain/plan";
import type { Machine } from "../../plan/machine";
import { leftOutStep } from "../../plan/rollout/state";
import type { RolloutNode } from "../../plan/rollout/observed";
import { planRollout, type RolloutPlan } from "../../plan/rollout/plan";
import { previewStep, refuseUnstaged } from "../../plan/rollout/desired";
import { furtherSoftware, desiredRollout, type DesiredRollout } from "../../plan/rollout/desired";
import { nodeRolloutSteps, type NodeRolloutStep } from "../../plan/steps";
import { stepsOfUnread } from "../../../../lib/steps/steps";
import { isKnown } from "../../../../lib/unknown";
import type { NodeRolloutInputs } from "../inputs";
import { readCluster } from "../preview-reading";
import { observe } from "./observation";

/** What a rollout will do. */
interface RolloutPreview {
  steps: NodeRolloutStep[];
  refusals: string[];
  /** Remarks that are not steps, since they may change at any time. */
  notes: string[];
  /** Names of unreachable workers; each has a line among the steps. */
  leftOut: string[];
}

const NOTHING: RolloutPreview = { steps: [], refusals: [], notes: [], leftOut: [] };

/**
 * Returns the rollout as it would run now, from the cluster, or from the state if the cluster can't be read. A cluster
 * that does not exist yet has no rollout: it is created at the desired version.
 */
export async function previewRollout(
  olds: Partial<NodeRolloutInputs>,
  news: NodeRolloutInputs,
): Promise<RolloutPreview> {
  const kubeconfig = isKnown(news.kubeconfig) ? news.kubeconfig : olds.kubeconfig;
  if (kubeconfig === undefined || !isKnown(kubeconfig)) return NOTHING;
  const live = await readCluster(kubeconfig, (kubernetes) => fromCluster(kubernetes, news));
  if ("facts" in live) return live.facts;
  const preview = fromState(olds, news);
  const configured = news.machines.map(({ name }) => name);
  const steps = stepsOfUnread({
    why: live.unread,
    steps: preview.steps,
    recorded: (olds.machines ?? []).map(({ name }) => name).filter((name) => configured.includes(name)),
    what: "the versions that it runs",
  });
  return { ...preview, steps };
}

/** Returns the plan from the running cluster. */
async function fromCluster(kubernetes: KubernetesClient, news: NodeRolloutInputs): Promise<RolloutPreview> {
  const { nodes, desired } = await observe(kubernetes, news);
  const members = [...nodes, ...expectedNodes(nodes, desired, news.machines)];
  const plan = planRollout(members, desired, { agents: "assumed" });
  const blocked = plan.steps.length > 0 ? await drainsInTheWay(kubernetes, plan, news) : [];
  const preview = described(plan, desired);
  return { ...preview, notes: [...preview.notes, ...withoutAgents(nodes, plan), ...blocked] };
}

/** Returns machines that will have joined before the rollout begins, at the version that the cluster has until then. */
function expectedNodes(nodes: RolloutNode[], desired: DesiredRollout, machines: Machine[]): RolloutNode[] {
  const present = new Set(nodes.map(({ name }) => name));
  const version = desired.clusterVersion ?? nodes.find(({ controlPlane }) => controlPlane)?.kubeletVersion;
  if (version === undefined) return [];
  return machines.filter(({ name }) => !present.has(name)).map((machine) => memberAt(machine, version));
}

function memberAt({ name, role, group }: Machine, version: string): RolloutNode {
  return {
    name,
    controlPlane: role === "control-plane",
    pool: group,
    kubeletVersion: version,
    ready: true,
    unschedulable: false,
    cordonedBefore: false,
    changesAllowed: false,
    agentReady: true,
    desired: {},
    current: {},
  };
}

/** Returns the plan without the cluster: all machines at the version of the state. */
function fromState(olds: Partial<NodeRolloutInputs>, news: NodeRolloutInputs): RolloutPreview {
  const version = olds.specification?.version;
  if (version === undefined) return NOTHING;
  const desired = desiredRollout(news.specification.version, news.machines, news.rollout, version);
  const nodes = news.machines.map((machine) => ({
    ...memberAt(machine, version),
    current: olds.rollout ? furtherSoftware(olds.rollout) : {},
  }));
  return described(planRollout(nodes, desired, { agents: "assumed" }), desired);
}

function described(
  { steps, refusals, notes, leftOut }: RolloutPlan,
  desired: DesiredRollout,
): RolloutPreview {
  const unstaged = refuseUnstaged(steps, desired) ?? [];
  return {
    steps: [...steps.map(previewStep), ...leftOut.map(leftOutStep)],
    refusals: refusals.concat(unstaged),
    notes,
    leftOut: leftOut.map(({ node }) => node),
  };
}

function withoutAgents(nodes: RolloutNode[], { steps }: RolloutPlan): string[] {
  const due = new Set(steps.map(({ node }) => node));
  return nodes
    .filter(({ name, agentReady }) => due.has(name) && agentReady === undefined)
    .map(({ name }) => `the node agent of ${name} has not reported yet; the rollout waits for it`);
}

async function drainsInTheWay(
  kubernetes: KubernetesClient,
  { steps }: RolloutPlan,
  { drain }: NodeRolloutInputs,
): Promise<string[]> {
  const [pods, budgets] = await Promise.all([
    kubernetes.listPods(),
    kubernetes.list<Budget>({ apiVersion: "policy/v1", kind: "PodDisruptionBudget" }),
  ]);
  const nodes = [...new Set(steps.map(({ node }) => node))];
  return blockedDrains(nodes, pods, budgets, drain).map((blocked) =>
    nodeRolloutSteps.format({ kind: "drainBlocked", ...blocked }),
  );
}
