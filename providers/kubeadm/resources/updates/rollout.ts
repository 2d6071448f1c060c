import { isDeepStrictEqual } from "node:util";
import { displayLine } from "../../../../lib/text/display";
import { listed, shortened } from "../../../../lib/text/quote";
import { dueUpdates, listedUpdates, requestedUpdates } from "../../plan/updates/updates";
import { OS_UPDATES } from "../../plan/rollout/annotations";
import type { RolloutNode } from "../../plan/rollout/observed";
import type { RolloutStep } from "../../plan/rollout/desired";
import { nodeRolloutSteps, type NodeRolloutStep } from "../../plan/steps";
import type { NodeRolloutInputs } from "../declarations";

/** Most characters of a reason. */
const LONGEST_REASON = 300;

/** What a preview knows of the updates of the nodes' operating systems. */
export interface UpdatesPreview {
  /** By machine, what asks for the updates that this run installs; absent for none. */
  updating?: Record<string, string>;
  /** Names of the machines that report their updates; absent where they are not asked to. */
  reportingUpdates?: string[];
}

/**
 * Returns what a run asks the machines for. Reports that no earlier run has seen wait for the next one: agents that this run
 * installs report only after its preview, which then would not have listed what happens.
 */
export function updatesPreview(
  nodes: readonly RolloutNode[],
  olds: Partial<NodeRolloutInputs>,
  news: NodeRolloutInputs,
): UpdatesPreview {
  const { osUpdates } = news.rollout;
  if (osUpdates === undefined) return {};
  const reporting = nodes.filter(({ updates }) => updates !== undefined);
  const updating = reporting.flatMap(({ name, updates }): [string, string][] => {
    const due = isKnownReport(name, olds, news) ? dueUpdates(updates) : undefined;
    return due === undefined ? [] : [[name, due]];
  });
  return {
    ...(updating.length > 0 ? { updating: Object.fromEntries(updating) } : {}),
    reportingUpdates: reporting.map(({ name }) => name).sort(),
  };
}

/** Returns whether an earlier run has seen this very machine's report of the same kind of updates. */
function isKnownReport(name: string, olds: Partial<NodeRolloutInputs>, news: NodeRolloutInputs): boolean {
  const keyOf = ({ machines = [] }: Partial<NodeRolloutInputs>) =>
    machines.find((machine) => machine.name === name)?.hostKey;
  return (
    isDeepStrictEqual(olds.rollout?.osUpdates, news.rollout.osUpdates) &&
    olds.reportingUpdates?.includes(name) === true &&
    keyOf(news) !== undefined &&
    keyOf(olds) === keyOf(news)
  );
}

/** Returns a node with the request for the updates that the preview listed. */
export function withUpdates(
  node: RolloutNode,
  { updating = {} }: Pick<NodeRolloutInputs, "updating">,
): RolloutNode {
  const request = requestedUpdates(node.updates, updating[node.name], node.desired[OS_UPDATES]);
  return request === undefined ? node : { ...node, updateRequest: request };
}

/** Returns the remarks of a preview on updates that are not listed as steps of their own. */
export function updateNotes(
  nodes: readonly RolloutNode[],
  steps: readonly RolloutStep[],
  olds: Partial<NodeRolloutInputs>,
  news: NodeRolloutInputs,
): string[] {
  if (news.rollout.osUpdates === undefined) return [];
  const members = nodes.filter(({ name }) => news.machines.some((machine) => machine.name === name));
  const unread = members.flatMap(({ name: machine, updates }): NodeRolloutStep[] =>
    updates && "unread" in updates
      ? [{ kind: "unreadUpdates", machine, why: shortened(displayLine(updates.unread), LONGEST_REASON) }]
      : [],
  );
  const later = members.filter(({ name }) => !isKnownReport(name, olds, news)).map(({ name }) => name);
  const combined = steps.flatMap(
    ({ node: machine, software, updates, updateRequest: list }): NodeRolloutStep[] =>
      updates && list !== undefined && software.length > 1
        ? [{ kind: "updatesOf", machine, list, reboot: updates.reboot, versions: listedUpdates(updates) }]
        : [],
  );
  return [
    ...combined,
    ...unread,
    ...(later.length > 0 ? [{ kind: "laterUpdates" as const, machines: listed(later) }] : []),
  ].map(nodeRolloutSteps.format);
}

/** Updates that were previewed are no longer what a machine would install. */
export class UpdatesChanged extends Error {
  readonly next = "run the command again, and read the new preview";
}

/** @throws UpdatesChanged when a node that has not begun has other updates pending than the preview listed */
export function assertPreviewedUpdates({ name, updates }: RolloutNode, request: string | undefined): void {
  if (request === undefined || (updates && !("unread" in updates) && updates.hash === request)) return;
  const now = updates === undefined ? "it reports none" : describe(updates);
  throw new UpdatesChanged(
    `${name} has other updates of its operating system pending than the preview listed (${request}): ${now}; nothing was changed there`,
  );
}

function describe(updates: NonNullable<RolloutNode["updates"]>): string {
  if ("unread" in updates) return `they could not be read: ${shortened(updates.unread, LONGEST_REASON)}`;
  return updates.hash === undefined ? "none is pending" : `${updates.hash}: ${listedUpdates(updates)}`;
}
