import {
  agentLogScript,
  type Script,
  startAgentScript,
} from "../../../../../providers/kubeadm/machine/steps";

/** The steps that look at the node agent. */
export const agentScripts: Record<string, Script> = {
  "agent-log": agentLogScript("demo", "w-1"),
  "start-agent": startAgentScript("demo", "w-1"),
};
