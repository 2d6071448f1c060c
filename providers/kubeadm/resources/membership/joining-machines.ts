import { report } from "../../../../lib/pulumi/log";
import { isKnown, isKnownList } from "../../../../lib/unknown";
import type { Refusal } from "../../plan/configuration/immutables";
import { initializedNode } from "../../plan/membership/nodes";
import { planMembership } from "../../plan/membership/plan";
import { type NodeGroupStep, nodeGroupSteps, type PreparationStep } from "../../plan/steps";
import type { NodeGroupInputs } from "../declarations";
import { addressesOf, readMachineFacts } from "../facts/reading";

/** Returns the name of a group's resource for messages. */
export const nameOf = ({ group }: NodeGroupInputs) => `NodeGroup ${group}`;
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
    ...{ group, desired, recorded: [], lost, elsewhere },
    members: [first],
    observed: [initializedNode(first)],
  });
  return steps.map(nodeGroupSteps.format);
}

/**
 * Asks machines that join before anything is changed: why they can't, and what their preparation changes. Notes what of others
 * they keep. What the check of the ClusterOwner has asked is not asked again.
 *
 * @param steps what is planned for the group; undefined if that is not known
 */
export async function examineJoining(
  olds: Partial<NodeGroupInputs>,
  news: NodeGroupInputs,
  planned: readonly NodeGroupStep[] | undefined,
): Promise<{ refusals: Refusal[]; preparation: PreparationStep[] }> {
  const recorded = namesOf(olds.machines);
  const steps = planned?.flatMap((step) =>
    step.kind === "join" || step.kind === "joinControlPlane" ? step.machine : [],
  );
  const joining = news.machines.filter(({ name }) => steps?.includes(name) ?? !recorded.includes(name));
  const none = { refusals: [], preparation: [] };
  if (joining.length === 0) return none;
  const { specification, credentials, jumpHost, podNetwork = "other", controlPlanes } = news;
  if (!isKnown([specification, credentials, jumpHost])) return none;
  const { examine, noteLines, wasExamined } = await import("../facts/examination.js");
  const due = joining.filter((machine) => isKnown(machine) && !wasExamined(machine));
  if (due.length === 0) return none;
  const planes = isKnownList(controlPlanes) ? controlPlanes : [];
  const known = Object.fromEntries(
    [...planes, ...news.machines].filter(isKnown).map(({ name, internalAddress }) => [name, internalAddress]),
  );
  // the files of a proxy name all machines, in the order of the configuration
  const internalAddresses = { ...addressesOf(specification.name), ...known };
  // machines that exist were refused before, if they are new
  const desired = { specification, podNetwork, internalAddresses };
  const found = await examine(news, due, desired, { mayPass: true, controlPlanes: namesOf(planes) });
  for (const line of noteLines(found)) report(nameOf(news), line);
  // a machine that was in the group is not prepared again, but for another revision
  const isPrepared = (machine: string) =>
    recorded.includes(machine) && olds.bootstrapRevision === news.bootstrapRevision;
  return {
    refusals: found.findings.flatMap(({ level, sentence: reason }) =>
      level === "refused" ? [{ property: "machines", reason }] : [],
    ),
    preparation: found.preparation.filter(({ machine }) => !isPrepared(machine)),
  };
}
