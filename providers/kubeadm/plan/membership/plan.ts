import { CONTROL_PLANE_GROUP, type Machine, type Taint } from "../cluster/machine";
import type { NodeGroupStep } from "../steps";
import { labelChanges, taintChanges, taintDifference, type ObservedNode } from "./nodes";
import { memberStep } from "./already-members";
import { hasMoved } from "./moved";
import { INSTALLED_ANEW, type ResetMachines } from "./reset";
import { listed } from "../../../../lib/text/quote";

export interface MembershipPlan {
  steps: NodeGroupStep[];
  /** Remarks for the reader that are not steps. */
  notes: NodeGroupStep[];
}

type Removal = Extract<NodeGroupStep, { kind: "lose" | "remove" }>;

/** Returns whether a step takes a machine out of the cluster. */
export function isRemoval(step: NodeGroupStep): step is Removal {
  return step.kind === "lose" || step.kind === "remove";
}

/**
 * Returns steps in which the removals of nodes that volumes are attached to have the limit of that wait.
 *
 * @param attached whether volumes are attached to a node; unknown counts as attached
 * @param seconds 0 for no wait
 */
export function withVolumeWait(
  steps: readonly NodeGroupStep[],
  attached: (machine: string) => boolean,
  seconds: number,
): NodeGroupStep[] {
  return steps.map((step) =>
    step.kind === "remove" && seconds > 0 && attached(step.machine)
      ? { ...step, detachSeconds: seconds }
      : step,
  );
}

/** Compares names so that w-10 comes after w-9. */
export const byIndex = (one: string, other: string): number =>
  one.localeCompare(other, "en", { numeric: true });

/**
 * Returns the steps that bring one node group to its desired machines. Lost machines are removed first, since etcd
 * accepts no new member while a dead one counts. Then come joins in order and the spread of the cluster's DNS over the
 * nodes, then the labels and taints of nodes that stay, then the end of removals that an earlier run began, then removals of living nodes, highest index first,
 * but first those whose join was interrupted before they were Ready. A node that
 * is not ready results in a note, not in a step.
 *
 * @param recorded the machines that are in the state: joined, or partly removed
 * @param former the Nodes whose removal an earlier run did not finish
 * @param interrupted machines that an interrupted run prepared or joined, with their groups
 * @param elsewhere machines of other groups in the configuration or in the state: their Nodes are never removed
 * @param adopted machines that were members when they were adopted: a Node without the group's label needs no join
 * @param members machines without a label of a group, or without a Node, that are members: they don't join again
 * @param gone machines that were reset by hand or reinstalled, although their Nodes are in the cluster
 * @param untainted control planes without the taint of their role
 * @param observed the cluster's Nodes, or undefined when they could not be read: then the steps depend on `recorded`
 * alone
 */
export function planMembership(args: {
  group: string;
  desired: Machine[];
  recorded: string[];
  former?: FormerNodes;
  interrupted?: readonly { readonly name: string; readonly group?: string }[] | undefined;
  lost: string[];
  elsewhere?: string[];
  adopted?: readonly string[];
  members?: readonly string[];
  gone?: Partial<ResetMachines>;
  untainted?: readonly string[];
  observed?: ObservedNode[];
}): MembershipPlan {
  const {
    group,
    desired,
    lost,
    former = {},
    interrupted = [],
    elsewhere = [],
    adopted = [],
    members = [],
    gone = {},
  } = args;
  const wanted = new Set(desired.map(({ name }) => name));
  const nodes = new Map((args.observed ?? []).map((node) => [node.name, node]));
  const moved = (name: string) => hasMoved({ name, group, elsewhere, observed: args.observed });
  const recorded = args.recorded.filter((name) => !wanted.has(name) && !moved(name));
  // a join sets the group's label last, so a Node without it has not finished joining
  const present = args.observed
    ? (name: string) =>
        gone.reset?.includes(name) !== true &&
        (nodes.get(name)?.group !== undefined || (nodes.has(name) && adopted.includes(name)))
    : (name: string) => args.recorded.includes(name);

  const isControlPlane = group === CONTROL_PLANE_GROUP;
  const joins = desired
    .filter(({ name }) => !present(name))
    .map((each): NodeGroupStep => {
      const { name: machine } = each;
      if (members.includes(machine))
        return memberStep(each, nodes.get(machine), args.recorded.includes(machine));
      return isControlPlane ? { kind: "joinControlPlane", machine } : { kind: "join", machine, pool: group };
    });
  const settings = desired.flatMap((machine): NodeGroupStep[] => {
    const node = nodes.get(machine.name);
    const changes =
      node && (node.group || adopted.includes(node.name))
        ? settingsChanges(machine, node, args.untainted)
        : [];
    return changes.length === 0 ? [] : [{ kind: "settings", machine: machine.name, changes }];
  });
  const kept = desired.flatMap(({ name: machine }): NodeGroupStep[] => {
    const removal = nodes.get(machine)?.removal;
    if (removal === undefined) return [];
    return [{ kind: "keep", machine, ...(removal === "was-cordoned" ? { staysCordoned: true } : {}) }];
  });
  const isLost = (name: string) => lost.includes(name);
  const others = (args.observed ?? []).filter(({ name }) => !wanted.has(name) && !elsewhere.includes(name));
  const labeled = others.filter((node) => node.group === group).map(({ name }) => name);
  const unfinished = others.filter((node) => isFormer(node, former)).map(({ name }) => name);
  const begun = new Map(
    interrupted.filter(({ name }) => !recorded.includes(name)).map((each) => [each.name, each.group]),
  );
  // a join that was interrupted set no label, and only the control planes' group is always there
  const unlabeled = others.filter(
    ({ name, group: of }) => isControlPlane && of === undefined && isLost(name),
  );
  const leaving = [
    ...new Set([
      ...[...recorded, ...unfinished, ...begun.keys(), ...labeled.filter(isLost)],
      ...unlabeled.map(({ name }) => name),
    ]),
  ].sort((one, other) => byIndex(other, one));
  const mayBeEtcdMember = (name: string) => {
    const isWorker = unlabeled.some((node) => node.name === name && !node.controlPlane);
    return isControlPlane && !isWorker && (begun.get(name) ?? group) === group;
  };
  const removal = (kind: "lose" | "remove") => (machine: string) => ({
    kind,
    machine,
    ...(kind === "remove" && begun.has(machine) ? { interrupted: true as const } : {}),
    ...(mayBeEtcdMember(machine) ? { etcdMember: true as const } : {}),
  });
  // a member of etcd leaves only while the others are healthy, so those whose join came to no end leave first
  const isUnready = (name: string) => begun.has(name) && nodes.get(name)?.ready !== true;
  const alive = leaving
    .filter((name) => !isLost(name))
    .sort((one, other) => +isUnready(other) - +isUnready(one));
  const notReady = (names: string[]) =>
    names.flatMap((name) => nodes.get(name) ?? []).filter(({ ready }) => !ready);
  return {
    steps: [
      ...leaving.filter(isLost).map(removal("lose")),
      ...joins,
      ...(joins.length > 0 ? [{ kind: "spreadDns" as const }] : []),
      ...settings,
      ...kept,
      ...alive.map(removal("remove")),
    ],
    notes: [
      ...notReady([...wanted]).map((node): NodeGroupStep => {
        const isEmpty = gone.empty?.includes(node.name) === true;
        return { kind: "notReady", machine: node.name, why: isEmpty ? INSTALLED_ANEW : notReadyReason(node) };
      }),
      ...notReady(alive).map(leavesNotReady),
      ...labeled
        .filter((name) => !leaving.includes(name))
        .map((machine): NodeGroupStep => ({ kind: "unknownMember", machine, pool: group })),
    ],
  };
}

/** Nodes that are to leave a group, by name with their uid: a machine that joins again later is another Node. */
export type FormerNodes = Readonly<Record<string, string>>;

const isFormer = ({ name, uid }: ObservedNode, former: FormerNodes) =>
  Object.hasOwn(former, name) && former[name] === uid;

/**
 * Returns the Nodes that leave a group, for the state: if their removal fails, the next run continues with them.
 *
 * @param before the machines of the last run and the Nodes that were to leave then; without ownership in state of older
 * releases, where the label decides
 */
export function formerNodes(args: {
  group: string;
  before: { machines?: readonly { name: string }[]; former?: FormerNodes; owned?: unknown };
  /** Names of all configured machines. */
  configured: readonly string[];
  observed: readonly ObservedNode[] | undefined;
}): FormerNodes {
  const { group, before, configured, observed } = args;
  const { machines, former = {}, owned } = before;
  if (observed === undefined) return former;
  const hasNoRecord = machines !== undefined && owned === undefined;
  const leaving = observed.filter(
    (node) =>
      !configured.includes(node.name) &&
      (isFormer(node, former) ||
        machines?.some(({ name }) => name === node.name) ||
        (hasNoRecord && node.group === group)),
  );
  return Object.fromEntries(leaving.flatMap(({ name, uid }) => (uid === undefined ? [] : [[name, uid]])));
}

/** Formats a taint as kubectl does. */
function taintText({ key, value, effect }: Taint): string {
  return `${key}${value ? `=${value}` : ""}:${effect}`;
}

function settingsChanges(machine: Machine, node: ObservedNode, untainted: readonly string[] | undefined) {
  const taints = taintChanges(machine, node, untainted);
  const { set, removed } = taints ? taintDifference(node.taints, taints) : { set: [], removed: [] };
  const change = (what: "label" | "taint", setting: string, isRemoved: boolean) => {
    return { what, setting, ...(isRemoved ? { removed: true as const } : {}) };
  };
  return [
    ...Object.entries(labelChanges(machine, node) ?? {}).map(([key, value]) =>
      change("label", value === null ? key : `${key}=${value}`, value === null),
    ),
    ...set.map((taint) => change("taint", taintText(taint), false)),
    ...removed.map((taint) => change("taint", taintText(taint), true)),
  ];
}

const notReadyReason = ({ reason = "the kubelet has not reported" }: ObservedNode): string => reason;

/** Returns a note on a node that would be drained although its machine may be gone. */
export function leavesNotReady(node: ObservedNode): NodeGroupStep {
  return { kind: "leavesNotReady", machine: node.name, why: notReadyReason(node) };
}

/**
 * Returns why machines can't join this group now, or undefined: a Node belongs to one group at a time. If the state has
 * the machine in this group, its Node was relabeled outside foresail, and gets its label back.
 *
 * @param recorded the machines of this group in the state
 */
export function refuseGroupChange(
  group: string,
  desired: Machine[],
  observed: ObservedNode[],
  recorded: string[] = [],
): string | undefined {
  const joining = desired.map(({ name }) => name).filter((name) => !recorded.includes(name));
  const moved = observed.filter(
    (node) => node.group !== undefined && node.group !== group && joining.includes(node.name),
  );
  if (moved.length === 0) return undefined;
  const names = listed(moved.map((node) => `${node.name} (in ${node.group})`));
  return `${names} can't move to ${group} in one run: take it out of the configuration, run \`up\`, then add it here`;
}

/** Names of machines by worker pool. */
export type Pools = Readonly<Record<string, readonly string[]>>;

/** Returns the names of the machines that a group of control planes has recorded in worker pools; none for another group. */
export const recordedInPools = (recorded: { pools?: Pools; leaving?: Pools }): string[] =>
  [recorded.pools, recorded.leaving].flatMap((pools) => Object.values(pools ?? {}).flat());

/** A machine of a pool that is no longer configured. */
export interface RemovedMember {
  pool: string;
  machine: string;
  /** Whether its Node is in the cluster; true when the Nodes could not be read. */
  hasNode: boolean;
  lost: boolean;
}

/**
 * Returns the machines of pools that are no longer configured. The resource of such a pool is deleted, and a deletion
 * has neither steps in a preview nor the current list of lost machines, so the control planes' group reports them.
 *
 * @param recorded the pools of the last run; undefined in state of older releases, where the Nodes' labels are used
 * @param leaving the pools that were removed earlier and had Nodes then: their deletion may have failed
 * @param observed the cluster's Nodes, or undefined when they could not be read
 */
export function removedMembers(args: {
  configured: Pools;
  recorded: Pools | undefined;
  leaving: Pools;
  lost: readonly string[];
  observed: readonly ObservedNode[] | undefined;
}): RemovedMember[] {
  const { configured, observed, leaving, lost } = args;
  const recorded = args.recorded ?? poolsOf(observed ?? []);
  const isRemoved = (pool: string) => pool !== CONTROL_PLANE_GROUP && !(pool in configured);
  const fresh = Object.keys(recorded).filter(isRemoved);
  const earlier = Object.keys(leaving).filter((pool) => isRemoved(pool) && !fresh.includes(pool));
  const nodes = new Set(observed?.map(({ name }) => name));
  const membersOf = (pool: string) => {
    const members = recorded[pool] ?? (leaving[pool] ?? []).filter((name) => nodes.has(name));
    return [...members]
      .sort((one, other) => byIndex(other, one))
      .map((machine) => {
        const hasNode = observed === undefined || nodes.has(machine);
        return { pool, machine, hasNode, lost: lost.includes(machine) };
      });
  };
  return [...fresh, ...earlier].flatMap(membersOf);
}

/** Returns the machines that have a Node, by pool: those that the next preview has to check again. */
export function poolsThatLeave(members: readonly RemovedMember[]): Record<string, string[]> {
  return poolsOf(
    members.flatMap(({ pool, machine: name, hasNode }) => (hasNode ? { name, group: pool } : [])),
  );
}

/** Returns what happens to a machine of a removed pool. */
export function removedMemberStep({ pool, machine, hasNode, lost }: RemovedMember): NodeGroupStep {
  if (lost) return { kind: "loseOfPool", machine, pool };
  return { kind: hasNode ? "remove" : "resetOfPool", machine, pool };
}

/** Returns names by their group. */
function poolsOf(nodes: readonly Pick<ObservedNode, "name" | "group">[]): Record<string, string[]> {
  const pools: Record<string, string[]> = {};
  for (const { name, group } of nodes) if (group !== undefined) (pools[group] ??= []).push(name);
  return pools;
}
