import { foreignOwner } from "../../../../lib/ownership/owner";
import { isKnownList } from "../../../../lib/unknown";
import { ownScript } from "../../machine/steps";
import { ownershipOf, TAKE_OVER_FIELD, unnamedOwner } from "../../plan/facts/ownership";
import { clusterInitSteps } from "../../plan/steps";
import type { ClusterInitInputs as Inputs, ClusterInitOutputs as Outputs } from "../declarations";
import { readMachineFacts, readOwners } from "../facts/reading";
import { failuresOfEach, withMachines } from "../session/machines-session";
import { selfOf } from "../facts/ownership";

/**
 * Returns why machines are refused that have the mark of an earlier release and are not in the state of the ClusterInit:
 * nothing says that they are this stack's.
 */
export async function unnamedMachines(olds: Partial<Outputs>, news: Inputs) {
  const { specification, machines, owner } = news;
  if (owner === undefined || typeof specification !== "object" || !isKnownList(machines)) return [];
  const known = [...(olds.machines ?? []), ...(olds.former ?? [])].map(({ name }) => name);
  const read = readOwners(specification.name);
  const unnamed = new Set(read.unnamed);
  // a run before this one may have ended between the machines' owner and the cluster
  const unread =
    olds.specification === undefined ? machines.filter(({ name }) => !read.names.includes(name)) : [];
  const self = selfOf(news, news.takeOver);
  for (const [name, facts] of await readMachineFacts(news, unread))
    if (ownershipOf({ cluster: specification.name, machine: name, self }, facts).is === "unnamed")
      unnamed.add(name);
  return machines.flatMap(({ name }, index) =>
    unnamed.has(name) && !known.includes(name)
      ? [{ property: `cluster.machines[${index}]`, reason: unnamedOwner(name) }]
      : [],
  );
}

/** Returns the step that records the stack on the machines of a cluster that an earlier release made. */
export function ownSteps(olds: Partial<Inputs>, news: Inputs): string[] {
  if (news.owner === undefined || news.owner.id === "" || olds.owner !== undefined) return [];
  const configured = isKnownList(news.machines) ? news.machines.map(({ name }) => name) : [];
  const machines = (olds.machines ?? []).map(({ name }) => name).filter((name) => configured.includes(name));
  return machines.length > 0 ? [clusterInitSteps.format({ kind: "own", machines })] : [];
}

/**
 * Records the stack on the machines that the step names. A machine that does not answer keeps its mark of an earlier
 * release, which stays valid for this stack.
 */
export async function recordOwner(inputs: Inputs): Promise<void> {
  const names = (inputs.steps ?? []).flatMap((text) => {
    const step = clusterInitSteps.parse(text);
    return step?.kind === "own" ? step.machines : [];
  });
  const machines = inputs.machines.filter(({ name }) => names.includes(name));
  if (machines.length === 0) return;
  const { specification, timeouts } = inputs;
  const reachable = { ...inputs, timeouts: { ...timeouts, ssh: Math.min(timeouts.ssh, 30) } };
  await withMachines(`ClusterInit ${specification.name}`, reachable, async (session) => {
    const failures = await failuresOfEach(machines, "record the owner", async (machine) => {
      await session.run(machine, ownScript);
    });
    for (const { machine, text } of failures)
      session.progress(`${machine.name} keeps the mark that it has, which names no stack: ${text}`);
  });
}

/**
 * Refuses to give back machines that another stack has taken over, before any machine is touched.
 *
 * @throws Error with the names and what to do
 */
export async function assertGivesBackOwn(inputs: Outputs): Promise<void> {
  const { specification, machines } = inputs;
  const self = selfOf(inputs);
  const facts = await readMachineFacts(inputs, machines);
  const foreign = machines.flatMap(({ name }) => {
    const found = facts.get(name);
    const mark = found && "mark" in found && typeof found.mark === "object" ? found.mark : undefined;
    if (mark === undefined || !("owner" in mark) || mark.owner === undefined) return [];
    return mark.owner.id === self.id ? [] : [foreignOwner(name, mark.owner, self, TAKE_OVER_FIELD)];
  });
  if (foreign.length === 0) return;
  throw new Error(
    `the cluster ${specification.name} is no longer this stack's, so no machine was touched:\n${foreign.join("\n")}\n` +
      "To forget the cluster without touching it: pulumi state delete --force --target-dependents <URN of this resource> (pulumi stack --show-urns lists it), then run `pulumi destroy` again",
  );
}
