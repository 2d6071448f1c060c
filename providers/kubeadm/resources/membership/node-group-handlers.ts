import { isDeepStrictEqual } from "node:util";
import {
  refuseAddressChange,
  refuseForeignNodes,
  refuseJoinSettings,
  type RefusedChange,
} from "../../plan/configuration/immutables";
import { recordedLost } from "../../plan/membership/lost";
import * as membership from "../../plan/membership/plan";
import {
  type ObservedNode,
  ownershipAfter,
  recordedOwnership,
  untaintedMachines,
  withOwnership,
} from "../../plan/membership/nodes";
import {
  alreadyMembers,
  mayBeMember,
  refuseOtherRole,
  refuseUnprepared,
} from "../../plan/membership/already-members";
import { interruptedMachines, mayBeInterrupted } from "../../plan/membership/interrupted";
import { mayBeReset, type ResetMachines, resetMachines, wereReset } from "../../plan/membership/reset";
import type { RecordedMachine } from "../../plan/facts/ownership";
import { refuseLeavingMajority } from "../../plan/membership/majority";
import { withGivenConfiguration } from "../../plan/configuration/rolled-configuration";
import { CONTROL_PLANE_GROUP, type Machine } from "../../plan/cluster/machine";
import { DEFAULT_DRAIN } from "../../plan/cluster/defaults";
import { type NodeGroupStep, nodeGroupSteps } from "../../plan/steps";
import { stepsOfUnread } from "../../../../lib/steps/steps";
import type { Handlers } from "../../../../lib/pulumi/handler-types";
import { isKnownList } from "../../../../lib/unknown";
import { readMachineFacts } from "../facts/reading";
import { selfOf } from "../facts/ownership";
import { nodeOutputs, observeNodes } from "./observed-nodes";
import { examineJoining, firstLines, groupName, namesOf } from "./joining-machines";
import { readCluster, readForCheck } from "../session/preview-reading";
import { report, reportRecorded } from "../../../../lib/pulumi/log";
import type { NodeGroupInputs, NodeGroupOutputs } from "../declarations";

/** How long a machine may take to answer when its pool is deleted. */
const DELETE_SSH_SECONDS = 30;

const REMOVED_WITH_CLUSTER =
  "the control planes are removed together with the cluster only, by `pulumi destroy` without --target; to remove one of " +
  "them, take it out of the configuration and run `pulumi up`";

interface GroupPreview {
  lines: string[];
  plan?: membership.MembershipPlan;
  observed?: ObservedNode[];
  /** Machines of removed pools; the deletion of each pool's resource drains and resets them. */
  removed?: membership.RemovedMember[];
  /** Nodes that leave the group. */
  former?: membership.FormerNodes;
  interrupted?: RecordedMachine[];
  /** Names of machines that were reset by hand. */
  reset?: string[];
  /** Why machines that are to join, or to be completed as members, can't. */
  refused?: string | undefined;
}

/** Describes what the change will do. If the cluster could not be read, the first line says so. */
async function planForPreview(olds: Partial<NodeGroupInputs>, news: NodeGroupInputs): Promise<GroupPreview> {
  const wanted = namesOf(news.machines);
  const [answer, interruptedWith] = await Promise.all([
    readForCheck(groupName(news), olds, news, observeNodes),
    readInterrupted(olds, news),
  ]);
  if (answer === undefined) return { lines: await firstLines(olds, news) };
  const { unread: why } = answer;
  let { facts: observed } = answer;
  const interrupted = interruptedWith(observed);
  const recorded = namesOf(olds.machines);
  const { group, machines: desired, lost, elsewhere = [], adopted } = news;
  const configured = [...wanted, ...elsewhere];
  const former = membership.formerNodes({ group, before: olds, configured, observed });
  const others = [...elsewhere, ...membership.recordedInPools(olds)];
  const [gone, members] = await Promise.all([
    readReset(news, mayBeReset(desired, recorded, observed), observed),
    readMembers(olds, news, mayBeMember({ desired, adopted, observed })),
  ]);
  // the join of a killed run may have ended since the Nodes were read
  if (members.names.some((name) => !namesOf(observed).includes(name)))
    observed = (await readForCheck(groupName(news), olds, news, observeNodes))?.facts ?? observed;
  const own = observed && withOwnership(observed, recordedOwnership(olds));
  const plan = membership.planMembership({
    group,
    desired,
    recorded,
    former,
    interrupted,
    lost,
    elsewhere: others,
    adopted,
    gone,
    members: members.names,
    untainted: untaintedMachines(news.specification, desired),
    observed: own,
  });
  const removed = membership.removedMembers({
    configured: news.pools ?? {},
    recorded: news.pools === undefined ? {} : olds.pools,
    leaving: news.pools === undefined ? {} : (olds.leaving ?? {}),
    lost,
    // a machine that is configured again is in its new pool
    observed: observed?.filter(({ name }) => !configured.includes(name)),
  });
  const attached = await volumesOfLeaving(olds, news, [
    ...plan.steps,
    ...removed.map(membership.removedMemberStep),
  ]);
  const waits = (steps: NodeGroupStep[], { drain = DEFAULT_DRAIN }: Partial<NodeGroupInputs>) =>
    membership.withVolumeWait(
      steps,
      attached,
      drain.volumeDetachSeconds ?? DEFAULT_DRAIN.volumeDetachSeconds,
    );
  // the deletion of a pool's resource has the settings of its last run
  const planned = [...waits(plan.steps, news), ...waits(removed.map(membership.removedMemberStep), olds)];
  const what = "its membership, labels and taints";
  const steps = why === undefined ? planned : stepsOfUnread({ why, steps: planned, recorded, what });
  const dead = (observed ?? []).filter(
    ({ name, ready }) => !ready && removed.some(({ machine, lost }) => machine === name && !lost),
  );
  for (const note of [...plan.notes, ...dead.map(membership.leavesNotReady)])
    report(groupName(news), nodeGroupSteps.format(note));
  return {
    lines: steps.map(nodeGroupSteps.format),
    plan,
    observed,
    removed,
    former,
    interrupted,
    reset: gone.reset,
    refused: members.refused ?? (gone.leaving?.length ? wereReset(gone.leaving, "removal") : undefined),
  };
}

/**
 * Reads the machines that left the configuration, and returns what finds those among them that an interrupted run prepared
 * or joined, given the cluster's Nodes; undefined if these could not be read, where those of the last check count.
 */
async function readInterrupted(
  olds: Partial<NodeGroupInputs>,
  news: NodeGroupInputs,
): Promise<(observed: readonly ObservedNode[] | undefined) => RecordedMachine[]> {
  const none = () => [];
  const { begun, group, specification, pools, machines, elsewhere = [] } = news;
  if (begun === undefined || !isKnownList(begun) || typeof specification !== "object") return none;
  const candidates = mayBeInterrupted({
    group,
    former: begun,
    pools,
    configured: [...namesOf(machines), ...elsewhere],
    recorded: [...namesOf(olds.machines), ...membership.recordedInPools(olds)],
  });
  if (candidates.length === 0) return none;
  const facts = await readMachineFacts(news, candidates);
  return (observed) => {
    const members = new Set(namesOf(observed ?? olds.interrupted));
    return interruptedMachines(selfOf(news), specification.name, candidates, facts, (name) =>
      members.has(name),
    );
  };
}

/** Asks machines whose Nodes are not Ready, or about to leave, whether they are still members. */
async function readReset(
  news: NodeGroupInputs,
  machines: readonly RecordedMachine[],
  observed: readonly ObservedNode[] = [],
): Promise<ResetMachines> {
  // the name of the cluster may not be known yet
  if (machines.length === 0 || typeof news.specification !== "object") return { reset: [], empty: [] };
  const facts = await readMachineFacts(news, machines);
  const isLeaving = (machine: string) =>
    observed.some(({ name, removal }) => name === machine && removal !== undefined);
  return resetMachines(selfOf(news), news.specification.name, facts, isLeaving);
}

/** Asks machines that the cluster does not have as members of a group whether they are members all the same. */
async function readMembers(
  olds: Partial<NodeGroupInputs>,
  news: NodeGroupInputs,
  machines: readonly Machine[],
): Promise<{ names: string[]; refused?: string | undefined }> {
  if (machines.length === 0 || typeof news.specification !== "object") return { names: [] };
  const facts = await readMachineFacts(news, machines);
  const names = alreadyMembers(selfOf(news), news.specification.name, facts);
  const revisions = { before: olds.bootstrapRevision, now: news.bootstrapRevision };
  const refused =
    refuseOtherRole(machines, names, facts) ?? refuseUnprepared(facts, namesOf(olds.machines), revisions);
  return { names, refused };
}

/** Returns how to tell whether volumes are attached to a machine that leaves. What can't be read counts as attached. */
async function volumesOfLeaving(
  olds: Partial<NodeGroupInputs>,
  news: NodeGroupInputs,
  steps: readonly NodeGroupStep[],
): Promise<(machine: string) => boolean> {
  if (!steps.some(({ kind }) => kind === "remove")) return () => false;
  const answer = await readForCheck(`${groupName(news)}, volumes`, olds, news, async ({ kubernetes }) => {
    const { nodesWithVolumes } = await import("../../../../lib/kubernetes/index.js");
    return nodesWithVolumes(kubernetes);
  });
  return (machine) => answer?.facts?.has(machine) ?? true;
}

/** Refuses when too many control planes would leave together. */
function refuseRemovals(
  news: NodeGroupInputs,
  olds: Partial<NodeGroupInputs>,
  { plan, observed, interrupted }: GroupPreview,
): string | undefined {
  if (news.group !== CONTROL_PLANE_GROUP || !plan) return undefined;
  const recorded = namesOf(olds.machines);
  return refuseLeavingMajority({
    steps: plan.steps,
    recorded,
    observed,
    interrupted: namesOf(interrupted),
  });
}

/** Refuses settings that machines of this group which have already joined would not get. */
function refuseJoined(
  olds: Partial<NodeGroupInputs>,
  news: NodeGroupInputs,
  observed?: ObservedNode[],
): RefusedChange[] {
  const recorded = olds.machines ?? [];
  const own = [...namesOf(olds.machines), ...namesOf(news.machines)];
  const joined = observed?.filter(({ name, group }) => group !== undefined && own.includes(name)) ?? recorded;
  const group = {
    members: joined.map(({ name }) => name),
    controlPlanes: news.group === CONTROL_PLANE_GROUP,
    adopted: isKnownList(news.adopted) ? news.adopted : olds.adopted,
  };
  return [
    ...refuseJoinSettings(olds.specification, news.specification, group),
    ...refuseAddressChange(recorded, news.machines, observed),
    ...refuseForeignNodes(recorded, news.machines, observed),
  ];
}

/** Inputs that destroy and later joins need; a change of them alone is not a step on any machine. */
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
  async check(olds: Partial<NodeGroupInputs>, given: NodeGroupInputs) {
    const { preparations, credentialsSum, ...kept } = given;
    const news = withGivenConfiguration(olds, kept);
    if (!isKnownList(news.machines)) {
      const steps = [nodeGroupSteps.format({ kind: "unknown", until: "the machines exist" })];
      return { inputs: { ...news, steps }, failures: [] };
    }
    const preview = await planForPreview(olds, news);
    const { lines, observed, removed, former = {}, interrupted = [], reset = [] } = preview;
    const owned = ownershipAfter(recordedOwnership(olds), news.machines, observed);
    const reason =
      membership.refuseGroupChange(news.group, news.machines, observed ?? [], namesOf(olds.machines)) ??
      preview.refused ??
      refuseRemovals(news, olds, preview);
    const refused = [
      ...(reason ? [{ property: "machines", reason }] : []),
      ...refuseJoined(olds, news, observed),
    ];
    const none = { refusals: refused, preparation: [] };
    const { refusals: failures, preparation } =
      refused.length > 0
        ? none
        : await examineJoining(olds, { ...news, preparations, credentialsSum }, preview.plan?.steps);
    const steps = [...preparation.map(nodeGroupSteps.format), ...lines];
    for (const line of steps) report(groupName(news), line);
    const leaving = removed ? membership.poolsThatLeave(removed) : (olds.leaving ?? {});
    const inputs = {
      ...news,
      owned,
      steps,
      ...(Object.keys(former).length > 0 ? { former } : {}),
      ...(interrupted.length > 0 ? { interrupted } : {}),
      ...(reset.length > 0 ? { reset } : {}),
      ...(news.pools ? { leaving } : {}),
    };
    const recorded = { ...inputs, lost: recordedLost(olds.lost, inputs.lost) };
    reportRecorded(groupName(news), olds, recorded, RECORDED);
    return { inputs, failures };
  },

  diff(_id, olds: Partial<NodeGroupOutputs>, news: NodeGroupInputs) {
    const compared = { ...news, lost: recordedLost(olds.lost, news.lost) };
    const recorded = RECORDED.some((key) => !isDeepStrictEqual(olds[key], compared[key]));
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
    const { facts, unread } = await readCluster(groupName(outputs), outputs.kubeconfig, observeNodes);
    if (facts) return { id, props: { ...outputs, nodes: nodeOutputs(outputs.machines, facts) } };
    report(groupName(outputs), `could not be read, so what is recorded stays: ${unread}`);
    return { id, props: outputs };
  },

  async delete(id, outputs: NodeGroupOutputs) {
    // a whole destroy deletes this resource with ClusterInit, without this call
    if (outputs.group === CONTROL_PLANE_GROUP) throw new Error(REMOVED_WITH_CLUSTER);
    // a machine without a Node may be gone for good, and after a deletion no later run could list it as lost
    const timeouts = { ...outputs.timeouts, ssh: Math.min(outputs.timeouts.ssh, DELETE_SSH_SECONDS) };
    await converge(id, outputs, { ...outputs, timeouts, machines: [], interrupted: [], reset: [] }, true);
  },
};

async function converge(
  id: string,
  recorded: Pick<NodeGroupOutputs, "members"> & Partial<NodeGroupOutputs>,
  inputs: NodeGroupInputs,
  isDeleted = false,
): Promise<NodeGroupOutputs> {
  const { convergeNodeGroup } = await import("./node-group-converge.js");
  return convergeNodeGroup(id, groupName(inputs), recorded, inputs, isDeleted);
}
