/** What a simulated machine does about its node agent. */
import type { ClusterNodes } from "./cluster-nodes";
import type { MachineState } from "./fleet-files";
import { answer, DONE, failed, NOTHING, type Result, type Setting } from "./operation-result";

/** Installs the agent, and starts one that was stopped, or hangs. */
export async function nodeAgent({ script, state, nodes }: Setting): Promise<Result> {
  if (!state.member) return failed(`${script.machine}: is not a member of the cluster`);
  const installers = [...script.text.matchAll(/^# foresail: (\S+ \S+), for the node agent$/gm)];
  const staged = installers.map(([, name = ""]) => name);
  const agent = staged.find((name) => name.startsWith("node-agent "))?.split(" ")[1];
  if (!agent) return failed("the simulation found no installer of the node agent in the script");
  const isSame = state.agent === agent && JSON.stringify(state.staged) === JSON.stringify(staged);
  Object.assign(state, { agent, staged });
  // the configuration is quoted text within the script
  const text = script.text.replaceAll("'\\''", "'");
  const [, key, value] = /^key_revision='(.*)'\nrevision='(.*)'$/m.exec(text) ?? [];
  if (key && value) state.revision = { key, value };
  if (state.agentUnit === "stopped" || state.agentUnit === "hung") delete state.agentUnit;
  await agentSpeaks(script.machine, state, nodes);
  return isSame ? NOTHING : DONE;
}

/** A node agent writes on its Node whenever its status is missing there. */
export async function agentSpeaks(machine: string, state: MachineState, nodes: ClusterNodes): Promise<void> {
  const { revision, silent, agentUnit } = state;
  if (revision && !silent && agentUnit === undefined)
    await nodes.annotate(machine, { [revision.key]: revision.value });
}

/** Starts an agent that was stopped, or does nothing; one whose unit is broken does not start. */
export async function startAgent({ script, state, files, nodes }: Setting): Promise<Result> {
  const { agentUnit } = state;
  const [, end] = /^END='(\w+)'$/m.exec(script.text) ?? [];
  if (agentUnit === undefined) return answer("runs");
  if (agentUnit === "broken")
    return failed("systemd does not start foresail-node-agent (status=203/EXEC)", 65);
  if (agentUnit !== "stopped" && end === "no") return answer("runs");
  if (agentUnit === "hung for ever" && end === "restart") return answer("ended");
  const isGivenUp = agentUnit === "hung for ever";
  if (isGivenUp) state.agentUnit = "stopped";
  else delete state.agentUnit;
  files.saveState(script.machine, state);
  if (isGivenUp) return failed("foresail-node-agent did nothing and was stopped", 65);
  // it reads its Node
  await nodes.annotate(script.machine, { "example.org/agent": new Date().toISOString() });
  return answer(agentUnit === "hung" ? "ended" : "started");
}
