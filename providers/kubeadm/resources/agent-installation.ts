import { messageOf } from "../../../lib/error-message";
import { AGENT_VERSION } from "../machine/node-agent";
import { nodeAgentScript, type Backend } from "../machine/steps";
import type { Machine } from "../plan/machine";
import { agentRevision, type AgentSettings } from "../plan/node-agents";
import type { ClusterInputs } from "./declarations";
import type { MachinesSession } from "./machines-session";

/** Revisions of the agents that joins of this run have installed, by machine. */
const installed = new Map<string, string>();

/** A rebuilt machine has another host key. */
const keyOf = ({ name, hostKey }: Machine) => `${name} ${hostKey}`;

function revisionOf({ specification }: ClusterInputs, settings: AgentSettings): string {
  return agentRevision({ agent: AGENT_VERSION, specification, ...settings });
}

/** Installs the agent on a machine, with the versions staged there. @throws the SSH client's typed errors */
async function runInstaller(
  session: MachinesSession,
  machine: Machine,
  { annotations, staged, drift }: AgentSettings,
  backends: readonly Backend[],
): Promise<void> {
  const { specification, timeouts } = session.inputs;
  const script = nodeAgentScript(specification, machine, annotations, staged, backends, drift);
  await session.run(machine, script, { seconds: timeouts.prepare });
}

/**
 * Installs the agent on a machine, unless a join of this run has installed the very same one.
 *
 * @param backends the cluster's machines, which are reached without a proxy
 * @throws the SSH client's typed errors
 */
export async function installAgent(
  session: MachinesSession,
  machine: Machine,
  settings: AgentSettings,
  backends: readonly Backend[],
): Promise<void> {
  const revision = installed.get(keyOf(machine));
  installed.delete(keyOf(machine));
  if (revision === revisionOf(session.inputs, settings)) return;
  await runInstaller(session, machine, settings, backends);
}

/**
 * Installs the agent on a machine that has joined and is not Ready yet, which saves the NodeAgents of the same run the
 * time. A failure is not one of the join: the NodeAgents install the agent again, and report it. Behind a proxy it does
 * nothing, since one group does not know the addresses of all machines.
 */
export async function installAgentOfJoin(
  session: MachinesSession,
  machine: Machine,
  settings: AgentSettings | undefined,
): Promise<void> {
  if (settings === undefined || session.inputs.specification.proxy !== undefined) return;
  try {
    await runInstaller(session, machine, settings, []);
    installed.set(keyOf(machine), revisionOf(session.inputs, settings));
  } catch (error) {
    session.progress(
      `${machine.name}: its node agent is installed after the join, since: ${messageOf(error)}`,
    );
  }
}
