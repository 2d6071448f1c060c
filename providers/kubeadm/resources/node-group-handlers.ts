import { isDeepStrictEqual } from "node:util";
import { refuseAddressChange, refuseJoinSettings, type Refusal } from "../plan/immutables";
import {
  isRemoval,
  leavesNotReady,
  planMembership,
  refuseGroupChange,
  type MembershipPlan,
  poolsThatLeave,
  removedMembers,
  removedMemberStep,
  type RemovedMember,
} from "../plan/membership/plan";
import {
  type ObservedNode,
  ownershipAfter,
  recordedOwnership,
  withOwnership,
} from "../plan/membership/nodes";
import { refuseMajorityRemoval } from "../plan/membership/quorum";
import { CONTROL_PLANE_GROUP, withKeysOfLeaving } from "../plan/machine";
import { nodeGroupSteps } from "../plan/steps";
import { stepsOfUnread } from "../../../lib/steps/steps";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { PartialFailure } from "../../../lib/pulumi/failure";
import { isKnown, isKnownList } from "../../../lib/unknown";
import { readCluster } from "./preview-reading";
import { report, reportRecorded } from "../../../lib/pulumi/log";
import { nodeGroupName, type NodeGroupInputs, type NodeGroupOutputs } from "./inputs";

/** How long a machine may take to answer when its pool is deleted. */
const DELETE_SSH_SECONDS = 30;

/** Returns the cluster's Nodes, or the reason why they could not be read. */
async function tryToObserve(kubeconfig: string): Promise<ObservedNode[] | string> {
  const { observeNodes } = await import("./observed-nodes.js");
  const answer = await readCluster(kubeconfig, observeNodes);
  return "facts" in answer ? answer.facts : answer.unread;
}

interface GroupPreview {
  lines: string[];
  plan?: MembershipPlan;
  observed?: ObservedNode[];
  /** Machines of removed pools; the deletion of each pool's resource drains and resets them. */
  removed?: RemovedMember[];
}

/** Describes what the change will do. If the cluster could not be read, the first line says so. */
async function planForPreview(olds: Partial<NodeGroupInputs>, news: NodeGroupInputs): Promise<GroupPreview> {
  const wanted = news.machines.map(({ name }) => name);
  // a kubeconfig that is about to be read again has the same credentials as the one in the state
  const kubeconfig = isKnown(news.kubeconfig) ? news.kubeconfig : olds.kubeconfig;
  if (kubeconfig === undefined || !isKnown(kubeconfig))
    return { lines: [nodeGroupSteps.format({ kind: "unknown", until: "the cluster exists", wanted })] };
  const recorded = (olds.machines ?? []).map(({ name }) => name);
  const observed = await tryToObserve(kubeconfig);
  const live = typeof observed === "string" ? undefined : observed;
  const plan = planMembership({
    group: news.group,
    desired: news.machines,
    recorded,
    lost: news.lost,
    elsewhere: news.elsewhere,
    observed: live && withOwnership(live, recordedOwnership(olds)),
  });
  const configured = [...wanted, ...(news.elsewhere ?? [])];
  const removed = removedMembers({
    configured: news.pools ?? {},
    recorded: news.pools === undefined ? {} : olds.pools,
    leaving: news.pools === undefined ? {} : (olds.leaving ?? {}),
    lost: news.lost,
    // a label that was set by hand does not move a configured machine into a removed pool
    observed: live?.filter(({ name }) => !configured.includes(name)),
  });
  const planned = [...plan.steps, ...removed.map(removedMemberStep)];
  const steps =
    typeof observed === "string"
      ? stepsOfUnread({ why: observed, steps: planned, recorded, what: "its membership, labels and taints" })
      : planned;
  const dead = (live ?? []).filter(
    ({ name, ready }) => !ready && removed.some(({ machine, lost }) => machine === name && !lost),
  );
  for (const note of [...plan.notes, ...dead.map(leavesNotReady)])
    report(nodeGroupName(news), nodeGroupSteps.format(note));
  return { lines: steps.map(nodeGroupSteps.format), plan, observed: live, removed };
}

/** Refuses when too many control planes would leave together. */
function refuseRemovals(
  news: NodeGroupInputs,
  olds: Partial<NodeGroupInputs>,
  plan?: MembershipPlan,
  observed?: ObservedNode[],
): string | undefined {
  if (news.group !== CONTROL_PLANE_GROUP || !plan) return undefined;
  const recorded = (olds.machines ?? []).map(({ name }) => name);
  // a control plane whose Node was deleted has no label, but is still a member of etcd
  const present = observed
    ? observed
        .filter(({ controlPlane, name }) => controlPlane || recorded.includes(name))
        .map(({ name }) => name)
    : recorded;
  const leaving = plan.steps.flatMap((step) => (isRemoval(step) ? [step.machine] : []));
  return refuseMajorityRemoval(present, leaving);
}

/** Refuses settings that machines of this group which have already joined would not get. */
function refuseJoined(
  olds: Partial<NodeGroupInputs>,
  news: NodeGroupInputs,
  observed?: ObservedNode[],
): Refusal[] {
  const recorded = olds.machines ?? [];
  const joined = observed ? observed.filter(({ group }) => group === news.group) : recorded;
  const group = { joined: joined.length, controlPlanes: news.group === CONTROL_PLANE_GROUP };
  return [
    ...refuseJoinSettings(olds.specification, news.specification, group),
    ...refuseAddressChange(recorded, news.machines, observed),
  ];
}

/** Inputs that destroy and later joins need; a change of them alone is no step on any machine. */
const RECORDED = [
  "machines",
  "controlPlanes",
  "jumpHost",
  "credentials",
  "kubeconfig",
  "lost",
  "specification",
] as const;

export const handlers: Handlers = {
  async check(olds: Partial<NodeGroupInputs>, news: NodeGroupInputs) {
    if (!isKnownList(news.machines))
      return {
        inputs: { ...news, steps: [nodeGroupSteps.format({ kind: "unknown", until: "the machines exist" })] },
        failures: [],
      };
    const { lines, plan, observed, removed } = await planForPreview(olds, news);
    const recorded = (olds.machines ?? []).map(({ name }) => name);
    const owned = ownershipAfter(recordedOwnership(olds), news.machines, observed);
    const reason =
      refuseGroupChange(news.group, news.machines, observed ?? [], recorded) ??
      refuseRemovals(news, olds, plan, observed);
    const failures = [
      ...(reason ? [{ property: "machines", reason }] : []),
      ...refuseJoined(olds, news, observed),
    ];
    for (const line of lines) report(nodeGroupName(news), line);
    const leaving = removed ? poolsThatLeave(removed) : (olds.leaving ?? {});
    const inputs = { ...news, owned, ...(news.pools ? { leaving } : {}), steps: lines };
    reportRecorded(nodeGroupName(news), olds, inputs, RECORDED);
    return { inputs, failures };
  },

  diff(_id, olds: Partial<NodeGroupOutputs>, news: NodeGroupInputs) {
    const recorded = RECORDED.some((key) => !isDeepStrictEqual(olds[key], news[key]));
    const { nodes } = olds;
    const missing =
      nodes !== undefined &&
      isKnownList(news.machines) &&
      news.machines.some(({ name }) => !nodes.some((node) => node.name === name));
    return Promise.resolve({ changes: recorded || missing || (news.steps ?? []).length > 0 });
  },

  async create(inputs: NodeGroupInputs) {
    const id = `${inputs.specification.name}/${inputs.group}`;
    return { id, outs: await converge(id, { members: [] }, inputs) };
  },

  async update(id, olds: NodeGroupOutputs, news: NodeGroupInputs) {
    return { outs: await converge(id, olds, news) };
  },

  async read(id, outputs: NodeGroupOutputs) {
    const observed = await tryToObserve(outputs.kubeconfig);
    if (typeof observed === "string") {
      report(nodeGroupName(outputs), `could not be read, so what is recorded stays: ${observed}`);
      return { id, props: outputs };
    }
    const { nodeOutputs } = await import("./observed-nodes.js");
    return { id, props: { ...outputs, nodes: nodeOutputs(outputs.machines, observed) } };
  },

  async delete(id, outputs: NodeGroupOutputs) {
    // a machine without a Node may be gone for good, and after a deletion no later run could list it as lost
    const timeouts = { ...outputs.timeouts, ssh: Math.min(outputs.timeouts.ssh, DELETE_SSH_SECONDS) };
    await converge(id, outputs, { ...outputs, timeouts, machines: [], isDeleted: true });
  },
};

async function converge(
  id: string,
  { members, credentials: recorded }: Pick<NodeGroupOutputs, "members"> & Partial<NodeGroupOutputs>,
  { isDeleted = false, ...inputs }: NodeGroupInputs & { isDeleted?: boolean },
): Promise<NodeGroupOutputs> {
  const { convergeNodeGroup } = await import("./node-group-converge.js");
  const leaving = members
    .map(({ name }) => name)
    .filter((name) => !inputs.machines.some((machine) => machine.name === name));
  const credentials = withKeysOfLeaving(inputs.credentials, recorded, leaving);
  const result = await convergeNodeGroup(members, { ...inputs, credentials }, isDeleted);
  const outs = { ...inputs, members: result.members, nodes: result.nodes };
  if (result.failure) {
    // the next run needs the keys of machines that have not left yet
    const { context, error } = result.failure;
    throw new PartialFailure(id, { ...outs, credentials }, context, error);
  }
  return outs;
}
