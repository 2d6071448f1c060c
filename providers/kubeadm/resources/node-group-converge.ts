import type { Machine } from "../plan/machine";
import type { ObservedNode } from "../plan/membership/observed-node";
import { withOwnership } from "../plan/membership/ownership";
import { planMembership, type MembershipStep } from "../plan/membership/plan";
import type { FailureContext } from "../../../lib/pulumi/failure";
import { allInParallel } from "./all-in-parallel";
import { spreadClusterDns } from "./cluster-dns";
import { ClusterSession } from "./cluster-session";
import { joinAll } from "./node-joining";
import type { NodeOutput } from "./node-group";
import { nodeOutputs } from "./node-outputs";
import { nodeGroupName, type NodeGroupInputs } from "./node-group-inputs";
import { applyNodeSettings } from "./node-settings";
import { removeNode } from "./node-removal";
import { report } from "../../../lib/pulumi/log";
import { observeNodes } from "./observed-nodes";

interface ConvergeResult {
  members: Machine[];
  nodes: NodeOutput[];
  failure?: { context: FailureContext; error: unknown };
}

/**
 * Brings one node group to its desired machines, in the order of planMembership. The result contains what was done
 * before a failure, so that the next `up` continues from there.
 *
 * @param members machines of this group from earlier runs, with how to reach them
 * @param isDeleted whether the group itself is deleted: then an unreachable machine without a Node is only reported
 */
export async function convergeNodeGroup(
  members: Machine[],
  inputs: NodeGroupInputs,
  isDeleted = false,
): Promise<ConvergeResult> {
  const resource = nodeGroupName(inputs);
  const state = new Map([...members, ...inputs.machines].map((machine) => [machine.name, machine]));
  let current = "reach the cluster";
  let session: ClusterSession | undefined;
  let observed: ObservedNode[] = [];
  try {
    session = await ClusterSession.open(resource, inputs);
    const open = session;
    observed = await observeNodes(open.kubernetes);
    const { steps } = planMembership({
      group: inputs.group,
      desired: inputs.machines,
      recorded: members.map(({ name }) => name),
      lost: inputs.lost,
      elsewhere: inputs.elsewhere,
      observed: withOwnership(observed, inputs.owned ?? {}),
    });
    const named = (some: { machine: string }[]) => some.map(({ machine }) => machine).join(", ");
    const machinesOf = (some: { machine: string }[]) =>
      inputs.machines.filter(({ name }) => some.some(({ machine }) => machine === name));
    const of = <Kind extends MembershipStep["do"]>(kind: Kind) =>
      steps.filter((step): step is Extract<MembershipStep, { do: Kind }> => step.do === kind);

    const remove = async (removals: Extract<MembershipStep, { do: "remove" }>[]) => {
      for (const step of removals) {
        current = `remove ${step.machine}`;
        await open.assertMayGoOn();
        await removeNode(open, inputs, {
          name: step.machine,
          machine: state.get(step.machine),
          lost: step.lost,
          mayBeGone: isDeleted,
        });
        state.delete(step.machine);
      }
    };

    await remove(of("remove").filter(({ lost }) => lost));
    await forgetLost(open, inputs, observed);

    current = `join ${named(of("join")) || "nothing"}`;
    await joinAll(open, inputs, machinesOf(of("join")));
    if (of("spread-dns").length > 0) await spreadClusterDns(open);

    current = `set labels and taints of ${named(of("settings"))}`;
    await allInParallel(machinesOf(of("settings")), (machine) =>
      applyNodeSettings(open, machine, inputs.owned ?? {}),
    );

    await remove(of("remove").filter(({ lost }) => !lost));
    observed = await observeNodes(open.kubernetes);
    return { members: [...state.values()], nodes: nodeOutputs(inputs.machines, observed) };
  } catch (error) {
    return {
      members: [...state.values()],
      nodes: nodeOutputs(inputs.machines, observed),
      failure: { context: { resource, step: current }, error },
    };
  } finally {
    await session
      ?.end()
      .catch((error: unknown) => report(resource, `could not give the Lease back: ${String(error)}`));
  }
}

/**
 * Deletes the Nodes of lost machines whose pool is no longer configured: the pool's own deletion has no list of them.
 */
async function forgetLost(
  session: ClusterSession,
  inputs: NodeGroupInputs,
  observed: ObservedNode[],
): Promise<void> {
  const gone = observed.filter(
    ({ name, group }) => group !== undefined && group in (inputs.leaving ?? {}) && inputs.lost.includes(name),
  );
  for (const { name, group = "" } of gone) {
    await session.assertMayGoOn();
    await removeNode(session, { ...inputs, group }, { name, lost: true });
  }
}
