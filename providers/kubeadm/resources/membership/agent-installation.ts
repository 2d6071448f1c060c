import { messageOf } from "../../../../lib/error-message";
import { AGENT_VERSION } from "../../machine/node-agent";
import type { Parameters } from "../../machine/shell";
import { AGENT_INSTALLED, agentParameters, nodeAgentScript, type Backend } from "../../machine/steps";
import type { Machine } from "../../plan/cluster/machine";
import { agentRevision, type AgentSettings } from "../../plan/rollout/node-agents";
import type { ClusterInputs } from "../declarations";
import type { MachinesSession } from "../session/machines-session";

/** Revisions of the agents that groups have installed in this run, by machine. */
const installed = new Map<string, string>();

/** A rebuilt machine has another host key. */
const keyOf = ({ name, hostKey }: Machine) => `${name} ${hostKey}`;

function revisionOf({ specification }: ClusterInputs, machine: Machine, settings: AgentSettings): string {
  return agentRevision(machine, { agent: AGENT_VERSION, specification, ...settings });
}

/** Installs the agent on a machine, with the versions staged there. @throws the SSH client's typed errors */
async function runInstaller(
  session: MachinesSession,
  machine: Machine,
  settings: AgentSettings,
  backends?: readonly Backend[],
): Promise<void> {
  const { specification, timeouts } = session.inputs;
  const script = nodeAgentScript(specification, machine, settings, backends);
  await session.run(machine, script, { seconds: timeouts.prepare });
}

/**
 * Installs the agent on a machine, unless its group has installed the very same one in this run.
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
  if (revision === revisionOf(session.inputs, machine, settings)) return;
  await runInstaller(session, machine, settings, backends);
}

function noteInstalled(session: MachinesSession, machine: Machine, settings: AgentSettings): void {
  installed.set(keyOf(machine), revisionOf(session.inputs, machine, settings));
}

/**
 * Installs the agent on a machine that is a member without a join of this run, which saves the NodeAgents the time. A
 * failure is not one of the group: the NodeAgents install the agent again, and report it.
 */
export async function installAgentOfMember(
  session: MachinesSession,
  machine: Machine,
  settings: AgentSettings,
): Promise<void> {
  try {
    await runInstaller(session, machine, settings);
    noteInstalled(session, machine, settings);
  } catch (error) {
    session.progress(`${machine.name}: its node agent is installed later, since: ${messageOf(error)}`);
  }
}

/** The installation of an agent by a join. */
interface AgentOfJoin {
  /** For the join's script. */
  readonly parameters: Parameters;
  /** Takes the join's answer. As of a member, a failure is left to the NodeAgents. */
  readonly note: (answer: string) => void;
}

/**
 * Returns how the join of a machine installs its agent. Returns undefined when other versions than that of the join are to
 * be staged, which would slow kubeadm down: the NodeAgents install it then.
 *
 * @param version of Kubernetes, that the machine joins with
 */
export function agentOfJoin(
  session: MachinesSession,
  machine: Machine,
  version: string,
  settings: AgentSettings,
): AgentOfJoin | undefined {
  if (settings.staged.kubernetes.some((staged) => staged !== version)) return undefined;
  return {
    parameters: agentParameters(session.inputs.specification, machine, settings),
    note: (answer) => {
      if (answer.trim() === AGENT_INSTALLED) noteInstalled(session, machine, settings);
      else session.progress(`${machine.name}: its node agent is installed after the join`);
    },
  };
}
