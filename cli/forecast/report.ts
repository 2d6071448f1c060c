import type { DrainAllowances } from "../../lib/kubernetes/drain/plan";
import { CONTROL_PLANE_GROUP } from "../../providers/kubeadm/plan/cluster/machine";
import { byIndex } from "../../providers/kubeadm/plan/membership/plan";
import {
  observeRolloutNode,
  type RolloutNode,
  withoutV,
} from "../../providers/kubeadm/plan/rollout/observed";
import {
  describeRolloutStep,
  planRollout,
  type RolloutStep,
} from "../../providers/kubeadm/plan/rollout/plan";
import { presentSkew } from "../../providers/kubeadm/plan/rollout/state";
import { nodeRolloutSteps } from "../../providers/kubeadm/plan/steps";
import { compareVersions, minorsBetween, parseVersion } from "../../providers/kubeadm/plan/rollout/versions";
import { newerThanKnown } from "../../providers/kubeadm/plan/validation/kubernetes-version";
import type { RolloutPool, DesiredRollout } from "../../providers/kubeadm/plan/rollout/desired";
import { listed } from "../../lib/text/quote";
import type { PlanFacts } from "./facts";
import type { Distribution } from "./distributions";
import {
  blocks,
  budgetFindings,
  certificateFindings,
  drainFindings,
  type Finding,
  placementFindings,
  removalFindings,
  removedBetween,
  warns,
} from "./findings";
import { type NodeRuntime, runtimeFindings } from "./runtimes";

export interface ForecastOptions {
  /** without the leading v */
  target: string;
  allow: DrainAllowances;
  maxUnavailable: RolloutPool["maxUnavailable"];
  intermediates: string[];
  now: Date;
}

/** The forecast of a rollout, as --json prints it. */
export interface PlanReport {
  server: string;
  target: string;
  /** how the cluster was made, if not with kubeadm; then the forecast has neither steps nor findings */
  distribution?: Distribution;
  clusterVersion?: string;
  /** what the API server reports */
  serverVersion?: string;
  nodes: { name: string; pool: string; kubeletVersion: string; ready: boolean }[];
  /** the versions of the rollout, in order */
  passes: string[];
  steps: (RolloutStep & { line: string })[];
  findings: Finding[];
  notes: string[];
  blocked: boolean;
  /** checks that could not be made, each with the reason: if empty, and unless blocked, nothing blocks the rollout */
  unknown: string[];
}

const WORKERS = "workers";

const ADD_VERSION = "specify it with --via";
const FIX_TO_COMPLETE = "fix this first; until then, the rollout can't complete";
const FIX_FIRST = "fix this first; until then, no rollout is possible";
const READ_NOTES = "read what its release notes say about removals and changes, or update foresail";
const BRING_BACK = "the rollout leaves it out; repair it first to include it";

/** Forecasts the rollout of any kubeadm cluster, including one without foresail's node agents. */
export function planReport(facts: PlanFacts, options: ForecastOptions): PlanReport {
  const nodes = facts.nodes
    .map((node) => observeRolloutNode(node))
    .map((node) => ({ ...node, pool: poolOf(node) }))
    .sort((one, other) => byIndex(one.name, other.name));
  if (facts.distribution) {
    const nothing = { passes: [], steps: [], findings: [], notes: [], blocked: false, unknown: [] };
    return { ...headOf(facts, options, nodes), ...nothing };
  }
  const plan = planRollout(nodes, desiredRollout(nodes, facts, options), { agents: "assumed" });
  const readable = nodes.every(({ kubeletVersion }) => parseVersion(kubeletVersion));
  const skew = readable ? presentSkew(nodes) : [];
  const drained = new Set(plan.steps.map(({ node }) => node));
  const pods = (facts.pods ?? []).filter(({ spec }) => drained.has(spec?.nodeName ?? ""));
  const lowest = nodes.map(({ kubeletVersion }) => kubeletVersion).sort(compareVersions)[0];

  const findings = [
    ...plan.refusals.map((words) =>
      blocks("rollout", words, plan.missingIntermediates?.includes(words) ? ADD_VERSION : FIX_FIRST),
    ),
    ...(plan.standstill === undefined ? [] : [blocks("rollout", plan.standstill, FIX_TO_COMPLETE)]),
    ...skew.map((words) => warns("skew", words, "Kubernetes does not support this now; the rollout ends it")),
    ...nodes
      .filter((node) => !node.ready && drained.has(node.name))
      .map(({ name, reason = "the kubelet has not reported" }) =>
        warns("node", `${name} is not Ready: ${reason}`, "the rollout waits until it is Ready"),
      ),
    ...serverFindings(nodes, facts, options.target),
    ...newerFindings(options.target),
    ...runtimeFindings(
      runtimesOf(facts).filter(({ kubeletVersion }) => kubeletVersion !== options.target),
      options.target,
    ),
    ...plan.leftOut.map(({ node, reason }) => warns("node", `${node}: ${reason}`, BRING_BACK)),
    ...budgetFindings(facts.budgets ?? [], pods),
    ...placementFindings(facts.budgets ?? [], pods, {
      nodes: facts.nodes,
      claims: facts.claims ?? [],
      volumes: facts.volumes ?? [],
    }),
    ...drainFindings(pods, options.allow),
    ...removalFindings(facts.metrics ?? "", options.target),
    ...certificateFindings(facts.certificates, options.now),
  ];
  const known = new Set([...skew, ...nodes.map((node) => `${node.name} is not Ready: ${node.reason ?? ""}`)]);
  const isUnasked = facts.metrics === undefined || facts.unaskedServers.length > 0;
  const removed = isUnasked && lowest && parseVersion(lowest) ? removedBetween(lowest, options.target) : [];
  const unasked =
    facts.unaskedServers.length > 0
      ? [`not asked for requests of deprecated API versions: ${listed(facts.unaskedServers)}`]
      : [];
  return {
    ...headOf(facts, options, nodes),
    passes: [...new Set(plan.steps.map(({ to }) => to))],
    steps: plan.steps.map((step) => ({ ...step, line: describeRolloutStep(step) })),
    findings,
    notes: [
      // every forecast is of a version, whose order is always the same
      ...plan.notes.filter((note) => !known.has(note) && nodeRolloutSteps.parse(note)?.kind !== "order"),
      ...facts.notes,
      ...(removed.length > 0 && plan.steps.length > 0 ? [] : unasked),
    ],
    blocked: findings.some(({ weight }) => weight === "blocks"),
    // a rollout without steps drains nothing
    unknown:
      plan.steps.length === 0
        ? []
        : [
            ...facts.unread,
            ...(removed.length > 0
              ? [...unasked, `on the way Kubernetes removes ${listed(removed)}: look for their users`]
              : []),
          ],
  };
}

function headOf(
  { server, distribution, clusterVersion, serverVersion }: PlanFacts,
  { target }: ForecastOptions,
  nodes: readonly RolloutNode[],
) {
  return {
    server,
    target,
    ...(distribution && { distribution }),
    ...(clusterVersion && { clusterVersion }),
    ...(serverVersion && { serverVersion }),
    nodes: nodes.map(({ name, pool, kubeletVersion, ready }) => ({ name, pool, kubeletVersion, ready })),
  };
}

/** Returns a finding for a target of which this forecast can't know everything. */
function newerFindings(target: string): Finding[] {
  const newer = newerThanKnown(target);
  if (newer === undefined) return [];
  const words = `${newer}: it was not tested, and what it removes or changes may not be in this forecast`;
  return [warns("rollout", words, READ_NOTES)];
}

/** Returns findings where the API server's own version contradicts kubeadm-config, the kubelets or the target. */
function serverFindings(
  nodes: readonly RolloutNode[],
  { clusterVersion = "", serverVersion = "" }: PlanFacts,
  target: string,
): Finding[] {
  if (!parseVersion(serverVersion)) return [];
  const server = `the API server runs ${serverVersion}`;
  if (minorsBetween(serverVersion, target) < 0)
    return [blocks("rollout", `${server}, and Kubernetes can't go down a minor to ${target}`, FIX_FIRST)];
  const newer = nodes.filter(
    ({ kubeletVersion }) => parseVersion(kubeletVersion) && minorsBetween(serverVersion, kubeletVersion) > 0,
  );
  const isBehind = parseVersion(clusterVersion) && compareVersions(serverVersion, clusterVersion) < 0;
  const behind = `${server}, and kubeadm-config names ${clusterVersion}: an upgrade of the control planes is not complete`;
  const older = `${server}, which is older than the kubelets of ${listed(newer.map(({ name }) => name))}`;
  const complete = "complete it with `kubeadm upgrade`";
  return [
    isBehind ? warns("skew", behind, complete) : undefined,
    newer.length > 0 ? warns("skew", older, complete) : undefined,
  ].filter((finding) => finding !== undefined);
}

function runtimesOf({ nodes }: PlanFacts): NodeRuntime[] {
  return nodes.map(({ metadata, status }) => ({
    name: metadata?.name ?? "?",
    kubeletVersion: withoutV(status?.nodeInfo?.kubeletVersion),
    containerRuntimeVersion: status?.nodeInfo?.containerRuntimeVersion ?? "",
  }));
}

function poolOf(node: RolloutNode): string {
  return node.controlPlane ? CONTROL_PLANE_GROUP : node.pool || WORKERS;
}

function desiredRollout(nodes: RolloutNode[], facts: PlanFacts, options: ForecastOptions): DesiredRollout {
  const workers = nodes.map(({ pool }) => pool).filter((pool) => pool !== CONTROL_PLANE_GROUP);
  const pools = [CONTROL_PLANE_GROUP, ...new Set(workers.sort(byIndex))].map((name) => ({
    name,
    machines: nodes.filter(({ pool }) => pool === name).map((node) => node.name),
    maxUnavailable: options.maxUnavailable,
    paused: false,
  }));
  const { intermediates, target: version } = options;
  return {
    version,
    software: {},
    intermediates,
    clusterVersion: facts.clusterVersion ?? releaseOf(facts.serverVersion),
    pools,
    pausedNodes: [],
  };
}

/** Returns the version of a release; undefined for a build with a suffix. */
const releaseOf = (version = ""): string | undefined => (parseVersion(version) ? version : undefined);
