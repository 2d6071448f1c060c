import type { NodeGroupStep } from "../steps";
import type { ObservedNode } from "./nodes";
import { isRemoval } from "./plan";
import { refuseMajorityRemoval } from "./quorum";

/**
 * Returns why control planes may not leave in one `up`, or undefined. Those that an interrupted run prepared or joined count
 * neither as staying nor as leaving: no earlier run ended with them, and each leaves only while the other members are healthy.
 *
 * @param steps of the control planes' group
 * @param recorded names of the control planes in the state
 * @param interrupted names of the machines that an interrupted run prepared or joined
 * @param observed the cluster's Nodes, or undefined if they could not be read
 */
export function refuseLeavingMajority(args: {
  steps: readonly NodeGroupStep[];
  recorded: readonly string[];
  interrupted: readonly string[];
  observed: readonly ObservedNode[] | undefined;
}): string | undefined {
  const { steps, recorded, interrupted, observed } = args;
  // a control plane whose Node was deleted has no label, but is still a member of etcd
  const members = observed
    ?.filter(({ controlPlane, name }) => controlPlane || recorded.includes(name))
    .map(({ name }) => name);
  const present = (members ?? recorded).filter((name) => !interrupted.includes(name));
  // machines of other pools that an earlier run left are not control planes
  const isKnown = (machine: string) =>
    recorded.includes(machine) || observed?.some(({ name }) => name === machine) === true;
  const leaving = steps.flatMap((step) =>
    isRemoval(step) && step.etcdMember && isKnown(step.machine) && !interrupted.includes(step.machine)
      ? [step.machine]
      : [],
  );
  return refuseMajorityRemoval(present, leaving);
}
