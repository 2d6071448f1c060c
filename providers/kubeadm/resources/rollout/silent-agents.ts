import { messageOf } from "../../../../lib/error-message";
import { agentLogScript } from "../../machine/steps";
import type { Machine } from "../../plan/cluster/machine";
import { agentRevision } from "../../plan/rollout/node-agents";
import { AGENT_PATIENCE } from "../../plan/rollout/silent-agent";
import type { NodeAgentsInputs } from "../declarations";
import { failuresOfEach, type MachineFailure, type MachinesSession } from "../session/machines-session";
import { startAgent } from "./silent-agent";

/**
 * Waits for the reports of these machines' agents, without which no rollout can ask them for anything. An agent that can't be
 * started is not waited for. Returns a failure for each agent that has not reported in time, with what it logged.
 */
export async function silentAgents(
  session: MachinesSession<NodeAgentsInputs>,
  machines: readonly Machine[],
): Promise<MachineFailure[]> {
  const { kubeconfig, annotations, timeouts } = session.inputs;
  if (kubeconfig === undefined || machines.length === 0) return [];
  const { awaitAgentReports } = await import("./reported-agents.js");
  const late = `its node agent has not reported on its Node within ${timeouts.ready} s`;
  let why = late;
  const until = async (seconds: number, some: readonly Machine[]) => {
    const revisions = new Map(some.map((machine) => [machine.name, agentRevision(machine, session.inputs)]));
    why = late;
    const wait = { revisions, seconds, progress: session.progress };
    const silent = await awaitAgentReports(kubeconfig, annotations, wait).catch((error: unknown) => {
      why = `what its node agent reports can't be read: ${messageOf(error)}`;
      return some.map(({ name }) => name);
    });
    return some.filter(({ name }) => silent.includes(name));
  };
  const first = Math.min(AGENT_PATIENCE.look.begin, timeouts.ready);
  const notYet = await until(first, machines);
  const stopped = await failuresOfEach(notYet, "start the node agent", (machine) =>
    startAgent(session, machine),
  );
  const others = notYet.filter((machine) => !stopped.some((failure) => failure.machine === machine));
  const silent = others.length === 0 ? [] : await until(Math.max(1, timeouts.ready - first), others);
  const failures = await failuresOfEach(silent, "wait for the node agent", async (machine) => {
    const log = await session.run(machine, agentLogScript).catch(messageOf);
    throw new Error(`${why}; its log ends with:\n${log.trim()}`);
  });
  return [...stopped, ...failures];
}
