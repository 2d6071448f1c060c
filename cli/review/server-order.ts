import { commonSteps } from "../../lib/steps/steps";
import { type ResourceChange, type ReviewedChange, readStep } from "./steps";
import { listedSentences } from "../../lib/text/quote";

const SERVER = /\bopenstack:compute\/instance:Instance::/;
const CLOUD_PLAN = "CloudPlan";
const PLANS = [CLOUD_PLAN, "TumblebugPlan"];

/** Returns whether a resource plans which machines a run creates and deletes, and which the remaining runs do. */
export const isMachinePlan = ({ type }: Pick<ReviewedChange, "type">): boolean => PLANS.includes(type);

/**
 * Refuses servers that a preview would delete outside the current batch. The engine creates new objects and then
 * deletes old ones all at once, so a delete or replacement that the run's own machine plan does not name removes nodes
 * from the cluster without a drain.
 *
 * @returns a refusal message, or none
 */
export function refuseServerOrder(changes: readonly ResourceChange[]): string[] {
  const plans = changes.filter(({ type }) => type === CLOUD_PLAN);
  // a stack that is deleted as a whole deletes its plan, too
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
      : `${name} would be deleted and created again${replaceReasons.length > 0 ? ` for a changed ${replaceReasons.join(", ")}` : ""}`,
  );
  return [
    `${listedSentences(names, ", ")} outside the order in which machines are replaced, without leaving the cluster first. ` +
      "Nothing of this may run: change the pools in the configuration, or `replace`, and preview again; " +
      "if someone changed the server in the cloud, run `pulumi refresh` first",
  ];
}

/** Returns the lines for remaining runs in the machine plan of a preview. */
export function remainingRuns(changes: readonly ReviewedChange[]): string[] {
  return changes.filter(isMachinePlan).flatMap(({ inputs }) => textsOf(inputs["later"]));
}

/** Resources whose lines each begin with the name of the changed machine. */
const BY_MACHINE = ["NodeGroup", "NodeRollout"];

/**
 * Returns the first change of a remaining run that was not reviewed with the run before it, or undefined. The run's
 * lines must have been listed for later, its nodes must be those of the lines, and every other changed object must
 * belong to a machine or have been reviewed.
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
    .flatMap(({ type, steps }) => steps.map((line) => ({ line, ...readStep(type, line) })))
    .find(({ machine, joins }) => (machine === undefined ? !joins : !machines.includes(machine)))?.line;
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

/** Cluster resources that change whenever its machines change. */
const FOLLOWING = [
  ...BY_MACHINE,
  "AdminKubeconfig",
  "ClusterInit",
  "InitializedMark",
  "LoopbackEndpoint",
  "NodeAgents",
];

/** Returns a line of a remaining run without its prefix. */
function bare(line: string): string {
  const step = commonSteps.parse(line);
  return step?.kind === "later" ? step.line : line;
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}
