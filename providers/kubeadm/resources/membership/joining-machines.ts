import { report } from "../../../../lib/pulumi/log";
import { isKnown, isKnownList } from "../../../../lib/unknown";
import type { RefusedChange } from "../../plan/configuration/immutables";
import { initializedNode } from "../../plan/membership/nodes";
import { planMembership } from "../../plan/membership/plan";
import { type NodeGroupStep, nodeGroupSteps } from "../../plan/steps";
import type { NodeGroupInputs } from "../declarations";
import { addressesOf, readMachineFacts, wasListed } from "../facts/reading";

/** Returns the name of a group's resource for messages. */
export const groupName = ({ group }: NodeGroupInputs) => `NodeGroup ${group}`;
export const namesOf = (machines: readonly { readonly name: string }[] = []) =>
  machines.map(({ name }) => name);

/**
 * Describes what the run that makes the cluster does with the group. Unknown if its machines did not say that they are no
 * members of a cluster yet.
 */
export async function firstLines(olds: Partial<NodeGroupInputs>, news: NodeGroupInputs): Promise<string[]> {
  const { group, machines: desired, controlPlanes, lost, elsewhere = [], specification } = news;
  const unknown = { kind: "unknown", until: "the cluster exists", wanted: namesOf(desired) } as const;
  const open = [nodeGroupSteps.format(unknown)];
  if (olds.machines !== undefined || !isKnownList(controlPlanes) || typeof specification !== "object")
    return open;
  const asked = [...new Map([...controlPlanes, ...desired].map((each) => [each.name, each])).values()];
  const facts = await readMachineFacts(news, asked);
  const first = controlPlanes[0]?.name;
  if (first === undefined || [...facts.values()].some((read) => "unread" in read || read.member === true))
    return open;
  const { steps } = planMembership({
    group,
    desired,
    recorded: [],
    lost,
    elsewhere,
    members: [first],
    observed: [initializedNode(first)],
  });
  return steps.map(nodeGroupSteps.format);
}

/** What is found about machines that join, before anything is changed. */
interface FoundJoining {
  readonly refusals: RefusedChange[];
  /** What their preparation changes, as far as the check of the ClusterOwner has not listed it. */
  readonly preparation: NodeGroupStep[];
}

/**
 * Asks machines that join before anything is changed: why they can't, and what their preparation changes. Notes what of others
 * they keep. What the check of the ClusterOwner has said is not said again.
 *
 * @param steps what is planned for the group; undefined if that is not known
 */
export async function examineJoining(
  olds: Partial<NodeGroupInputs>,
  news: NodeGroupInputs,
  planned: readonly NodeGroupStep[] | undefined,
): Promise<FoundJoining> {
  const recorded = namesOf(olds.machines);
  const steps = planned?.flatMap((step) =>
    step.kind === "join" || step.kind === "joinControlPlane" ? step.machine : [],
  );
  const joining = news.machines.filter(({ name }) => steps?.includes(name) ?? !recorded.includes(name));
  const none = { refusals: [], preparation: [] };
  if (joining.length === 0) return none;
  const { specification, credentials, jumpHost, podNetwork = "other", controlPlanes, credentialsSum } = news;
  if (!isKnown([specification, credentials, jumpHost])) return none;
  const { examine, noteLines, wasExamined } = await import("../facts/examination.js");
  const known = joining.filter(isKnown);
  const unsaid = namesOf(known.filter((machine) => !wasExamined(machine)));
  const unlisted = namesOf(known.filter((machine) => !wasListed(specification.name, machine)));
  const prepared = (name: string) => willBePrepared(olds, news, name);
  const due = known.filter(
    ({ name }) => unsaid.includes(name) || (unlisted.includes(name) && prepared(name)),
  );
  if (due.length === 0) return none;
  const planes = isKnownList(controlPlanes) ? controlPlanes : [];
  const addresses = Object.fromEntries(
    [...planes, ...news.machines].filter(isKnown).map(({ name, internalAddress }) => [name, internalAddress]),
  );
  // the files of a proxy name all machines, in the order of the configuration
  const internalAddresses = { ...addressesOf(specification.name), ...addresses };
  // machines that exist were refused before, if they are new
  const desired = { specification, podNetwork, internalAddresses };
  const options = { mayPass: true, controlPlanes: namesOf(planes), credentialsSum };
  const found = await examine(news, due, desired, options);
  const isUnsaid = ({ machine }: { machine: string }) => unsaid.includes(machine);
  const said = {
    ...found,
    findings: found.findings.filter(isUnsaid),
    keeps: found.keeps.filter(isUnsaid),
    unread: found.unread.filter(isUnsaid),
  };
  for (const line of noteLines(said)) report(groupName(news), line);
  const unread = namesOf(due).filter(
    (name) =>
      unlisted.includes(name) && prepared(name) && found.unread.some(({ machine }) => machine === name),
  );
  return {
    refusals: said.findings.flatMap(({ level, sentence: reason }) =>
      level === "refused" ? [{ property: "machines", reason }] : [],
    ),
    preparation: [
      ...found.preparation.filter(
        // a machine is rebooted before it joins, however it was prepared
        ({ kind, machine }) => unlisted.includes(machine) && (prepared(machine) || kind === "rebootFirst"),
      ),
      ...(unread.length > 0
        ? [{ kind: "unknown", until: "the machines answer", wanted: unread } as const]
        : []),
    ],
  };
}

/**
 * Returns whether the preparation of a machine runs before it joins: the engine does not know its result yet. Without that, one
 * that was in the group is not prepared again, but for another revision.
 */
function willBePrepared(olds: Partial<NodeGroupInputs>, news: NodeGroupInputs, name: string): boolean {
  const preparation = news.preparations?.[name];
  if (preparation !== undefined) return !isKnown(preparation);
  return !namesOf(olds.machines).includes(name) || olds.bootstrapRevision !== news.bootstrapRevision;
}
