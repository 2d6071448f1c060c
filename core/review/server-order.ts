import type { ReviewedChange } from "./compare";
import type { ResourceChange } from "./preview";

const SERVER = /\bopenstack:compute\/instance:Instance::/;
const CLOUD_PLAN = "CloudPlan";

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
  const turn = new Set(
    plans.flatMap(({ inputs }) =>
      textsOf(inputs["leaving"]).map((machine) => `${String(inputs["cluster"])}-${machine}`),
    ),
  );
  const wrong = changes.filter(
    ({ urn, operation, name }) =>
      SERVER.test(urn) && (operation === "replace" || (operation === "delete" && !turn.has(name))),
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
export function laterTurns(changes: readonly ReviewedChange[]): string[] {
  return changes.filter(({ type }) => type === CLOUD_PLAN).flatMap(({ inputs }) => textsOf(inputs["later"]));
}

/** Resources whose lines each begin with the machine that is changed. */
const BY_MACHINE = ["NodeGroup", "NodeRollout"];

/**
 * The first step of a later run that was not listed before, or undefined when the run is a part of what was.
 * @param listed the lines of `laterTurns` of the run before it
 */
export function unlistedStep(
  listed: readonly string[],
  changes: readonly ResourceChange[],
): string | undefined {
  const promised = new Set(listed.map((line) => line.replace(/^then, [^:]+: /, "")));
  const steps = changes.filter(({ type }) => type === CLOUD_PLAN).flatMap((change) => change.steps);
  const later = laterTurns(changes).map((line) => line.replace(/^then, [^:]+: /, ""));
  const strange = [...steps, ...later].find((line) => !promised.has(line));
  if (strange !== undefined) return strange;
  return changes
    .filter(({ type }) => BY_MACHINE.includes(type))
    .flatMap((change) => change.steps)
    .find((line) => {
      const machine = line.slice(0, line.indexOf(":"));
      return machine !== "cluster DNS" && !steps.some((step) => step.includes(machine));
    });
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}
