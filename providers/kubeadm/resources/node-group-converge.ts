import type { Machine } from "../plan/machine";
import { type ObservedNode, withOwnership } from "../plan/membership/nodes";
import { isRemoval, planMembership } from "../plan/membership/plan";
import type { NodeGroupStep } from "../plan/steps";
import { machineOf } from "../../../lib/steps/steps";
import type { FailureContext } from "../../../lib/pulumi/failure";
import { allInParallel } from "./machines-session";
import { spreadClusterDns, nodeOutputs, observeNodes } from "./observed-nodes";
import { ClusterSession } from "./cluster-session";
import { joinAll } from "./node-joining";
import { type NodeOutput, nodeGroupName, type NodeGroupInputs } from "./inputs";
import { applyNodeSettings } from "./node-settings";
import { removeNode } from "./node-removal";
import { report } from "../../../lib/pulumi/log";

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
    const machinesOf = (...kinds: NodeGroupStep["kind"][]) => {
      const names = steps.filter(({ kind }) => kinds.includes(kind)).map(machineOf);
      return inputs.machines.filter(({ name }) => names.includes(name));
    };
    const named = (machines: Machine[]) => machines.map(({ name }) => name).join(", ");

    const remove = async (kind: "lose" | "remove") => {
      for (const { machine } of steps.filter(isRemoval).filter((step) => step.kind === kind)) {
        current = `remove ${machine}`;
        await open.assertMayGoOn();
        await removeNode(open, inputs, {
          name: machine,
          machine: state.get(machine),
          lost: kind === "lose",
          mayBeGone: isDeleted,
        });
        state.delete(machine);
      }
    };

    await remove("lose");
    await forgetLost(open, inputs, observed);

    const joining = machinesOf("join", "joinControlPlane");
    current = `join ${named(joining) || "nothing"}`;
    await joinAll(open, inputs, joining);
    if (steps.some(({ kind }) => kind === "spreadDns")) await spreadClusterDns(open);

    const changing = machinesOf("settings");
    current = `set labels and taints of ${named(changing)}`;
    await allInParallel(changing, (machine) => applyNodeSettings(open, machine, inputs.owned ?? {}));

    await remove("remove");
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
