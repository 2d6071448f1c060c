import { messageOf } from "../../../../lib/error-message";
import { RunInterrupted } from "../../../../lib/process/interruption";
import { EngineGone } from "../../../../lib/process/parent-watch";
import { isKnown } from "../../../../lib/unknown";
import { initConfiguration } from "../../machine/configuration/configuration";
import {
  parseRefusingPrograms,
  triedKubeProxyScript,
} from "../../machine/configuration/configuration-differences";
import { hasKubeProxy, kubeProxyVersion } from "../../plan/configuration/configuration";
import { controlPlanesOf } from "../../plan/cluster/machine";
import type { NodeRolloutInputs } from "../declarations";
import { withMachines } from "../session/machines-session";
import { trialIssue } from "./configuration-diff";

/** How long a machine may take to answer, and how long all may take that are asked, one after the other. */
const CONNECT_SECONDS = 6;
const LONGEST_SECONDS = 60;

/** What a preview says about new settings of kube-proxy. */
interface KubeProxyTrial {
  refusals: string[];
  notes: string[];
}

const NOTHING: KubeProxyTrial = { refusals: [], notes: [] };

/**
 * Returns why kube-proxy would end at its start with a change of its settings, on the first control plane that can try it:
 * it is the same on all nodes. Asks nothing when they stay, and in a cluster that others made, whose own settings are kept.
 */
export async function tryKubeProxy(
  resource: string,
  { specification: before }: Partial<NodeRolloutInputs>,
  inputs: NodeRolloutInputs,
): Promise<KubeProxyTrial> {
  const { specification, machines, credentials, adopted } = inputs;
  if (before === undefined || !isKnown(before) || adopted || !hasKubeProxy(specification)) return NOTHING;
  if (kubeProxyVersion(before) === kubeProxyVersion(specification) || !isKnown(credentials)) return NOTHING;
  const controlPlanes = controlPlanesOf(machines);
  const timeouts = { ...inputs.timeouts, ssh: CONNECT_SECONDS, dial: CONNECT_SECONDS };
  const deadline = performance.now() / 1000 + LONGEST_SECONDS;
  let why = "no control plane is known";
  try {
    return await withMachines(resource, { ...inputs, timeouts }, async (session) => {
      for (const machine of controlPlanes) {
        const seconds = deadline - performance.now() / 1000;
        if (seconds < CONNECT_SECONDS) break;
        const data = initConfiguration(specification, machine, controlPlanes);
        const script = triedKubeProxyScript(session.cluster, machine.name);
        try {
          const answer = await session.run(machine, script, { seconds, data });
          const refused = parseRefusingPrograms(answer);
          return {
            refusals: refused.map((each) => `on ${machine.name}, ${trialIssue(each)}`),
            notes: [],
          };
        } catch (error) {
          if (error instanceof RunInterrupted || error instanceof EngineGone) throw error;
          // the run asks a control plane that answers
          why = messageOf(error);
        }
      }
      return untried(why);
    });
  } catch (error) {
    if (error instanceof RunInterrupted || error instanceof EngineGone) throw error;
    return untried(messageOf(error));
  }
}

/** What can't be tried is not refused. */
const untried = (why: string): KubeProxyTrial => ({
  refusals: [],
  notes: [`kube-proxy's new settings could not be tried: ${why}`],
});
