import type { ReviewedChange } from "./change";
import type { ResourceChange } from "./change";

const SERVER = /\bopenstack:compute\/instance:Instance::/;
const CLOUD_PLAN = "CloudPlan";
const PLANS = [CLOUD_PLAN, "TumblebugPlan"];

/** Whether a resource says which machines a run makes and deletes, and which the next ones do. */
export const isMachinePlan = ({ type }: Pick<ReviewedChange, "type">): boolean => PLANS.includes(type);

/**
 * Says which servers a preview would take away besides those whose turn it is. The engine makes what is new and then deletes
 * what is old, all at once; so a delete or replacement that the run's own plan of machines does not name takes the cluster's nodes
 * away undrained.
 *
 * @returns a refusal for people, or none
 */
export function refuseServerOrder(changes: readonly ResourceChange[]): string[] {
  const plans = changes.filter(({ type }) => type === CLOUD_PLAN);
  // a stack that goes as a whole takes its plan with it
  if (plans.some(({ operation }) => operation === "delete")) return [];
  const batch = new Set(
    plans.flatMap(({ inputs }) =>
      textsOf(inputs["leaving"]).map((machine) => `${String(inputs["cluster"])}-${machine}`),
    ),
  );
  const wrong = changes.filter(
    ({ urn, operation, name }) =>
      SERVER.test(urn) && (operation === "replace" || (operation === "delete" && !batch.has(name))),
  );
  if (wrong.length === 0) return [];
  const names = wrong.map(({ name, operation, replaceReasons }) =>
    operation === "delete"
      ? `${name} would be deleted`
      : `${name} would be deleted and made anew${replaceReasons.length > 0 ? ` for a changed ${replaceReasons.join(", ")}` : ""}`,
  );
  return [
    `${names.join(", ")} outside the order in which machines are replaced, without leaving the cluster first. ` +
      "Nothing of this may run: change the pools in the configuration, or `replace`, and preview again; " +
      "if somebody changed the server in the cloud, run `pulumi refresh` first",
  ];
}

/** What the preview says of machines in later runs, as the plan of machines lists it. */
export function remainingRuns(changes: readonly ReviewedChange[]): string[] {
  return changes.filter(isMachinePlan).flatMap(({ inputs }) => textsOf(inputs["later"]));
}

/** Resources whose lines each begin with the machine that is changed. */
const BY_MACHINE = ["NodeGroup", "NodeRollout"];

/**
 * The first thing of a later run that was not reviewed with the run before it, or undefined when it is a part of what was: its lines
 * were listed for later, its nodes are those of the lines, and it changes no object that is neither a machine's nor was reviewed.
 */
export function unlistedChange(
  reviewed: readonly ReviewedChange[],
  changes: readonly ReviewedChange[],
): string | undefined {
  const promised = new Set(remainingRuns(reviewed).map(bare));
  const plans = changes.filter(isMachinePlan);
  const steps = plans.flatMap((change) => change.steps);
  const strange = [...steps, ...remainingRuns(changes).map(bare)].find((line) => !promised.has(line));
  if (strange !== undefined) return strange;
  const machines = plans.flatMap(({ inputs }) => [
    ...textsOf(inputs["arriving"]),
    ...textsOf(inputs["leaving"]),
  ]);
  const node = changes
    .filter(({ type }) => BY_MACHINE.includes(type))
    .flatMap((change) => change.steps)
    .find((line) => !line.startsWith("cluster DNS:") && !machines.includes(line.slice(0, line.indexOf(":"))));
  if (node !== undefined) return node;
  const known = new Set(reviewed.map(({ urn }) => urn));
  const other = changes.find(
    ({ urn, name, type, operation }) =>
      !known.has(urn) &&
      !(operation === "update" && FOLLOWING.includes(type)) &&
      !machines.some((machine) => `-${name}-`.includes(`-${machine}-`)),
  );
  return other && `${other.operation} ${other.type} ${other.name}`;
}

/** Resources of the cluster that follow its machines, whichever they are. */
const FOLLOWING = [
  ...BY_MACHINE,
  "AdminKubeconfig",
  "ClusterInit",
  "InitializedMark",
  "LoopbackEndpoint",
  "NodeAgents",
];

/** A line of a later run without the words that say in which. */
const bare = (line: string): string => line.replace(/^then, [^:]+: /, "");

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}
