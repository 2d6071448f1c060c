import { startAgentScript } from "../../../../../providers/kubeadm/machine/rollout/start-agent";
import { agentLogScript, type Script } from "../../../../../providers/kubeadm/machine/steps";

/** The steps that look at the node agent. */
export const agentScripts: Record<string, Script> = {
  "agent-log": agentLogScript("demo", "w-1"),
  "start-agent": startAgentScript({ silentSeconds: 15, end: "restart" })("demo", "w-1"),
};
