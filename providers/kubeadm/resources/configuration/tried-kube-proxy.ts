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
import { refusalOf } from "./configuration-diff";

/** How long a machine may take to answer, and then to try the program. */
const CONNECT_SECONDS = 6;
const TRY_SECONDS = 60;

/**
 * Returns why kube-proxy would end at its start with a change of its settings, on the first control plane that can try it:
 * it is the same on all nodes. Asks nothing when they stay, and in a cluster that others made, whose own settings are kept.
 */
export async function kubeProxyRefusals(
  resource: string,
  { specification: before }: Partial<NodeRolloutInputs>,
  inputs: NodeRolloutInputs,
): Promise<string[]> {
  const { specification, machines, credentials, adopted } = inputs;
  if (before === undefined || !isKnown(before) || adopted || !hasKubeProxy(specification)) return [];
  if (kubeProxyVersion(before) === kubeProxyVersion(specification) || !isKnown(credentials)) return [];
  const controlPlanes = controlPlanesOf(machines);
  const timeouts = { ...inputs.timeouts, ssh: CONNECT_SECONDS, dial: CONNECT_SECONDS };
  const refusals = withMachines(resource, { ...inputs, timeouts }, async (session) => {
    for (const machine of controlPlanes) {
      const data = initConfiguration(specification, machine, controlPlanes);
      const script = triedKubeProxyScript(session.cluster, machine.name);
      // the run asks a control plane that answers
      const answer = await session
        .run(machine, script, { seconds: TRY_SECONDS, data })
        .catch(() => undefined);
      if (answer !== undefined)
        return parseRefusingPrograms(answer).map((refused) => `on ${machine.name}, ${refusalOf(refused)}`);
    }
    return [];
  });
  // what can't be tried is not refused
  return refusals.catch(() => []);
}
