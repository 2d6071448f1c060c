import { waitFor } from "../../../../lib/wait";
import { refuseMemberAbsence } from "../../plan/membership/quorum";
import type { ClusterSession } from "../cluster-session";
import { seeEtcdMembers } from "../etcd-membership";
import { report } from "../../../../lib/pulumi/log";
import type { NodeRolloutInputs } from "../node-rollout-inputs";

/**
 * Waits until etcd has a quorum without the member of one control plane: a member that has just come back may take a
 * moment to become healthy.
 *
 * @throws WaitTimeout with the names of the unhealthy members; the SSH client's errors
 */
export async function untilEtcdSpares(
  session: ClusterSession,
  inputs: NodeRolloutInputs,
  name: string,
): Promise<void> {
  const controlPlanes = inputs.machines.filter(({ role }) => role === "control-plane");
  const others = controlPlanes.filter((machine) => machine.name !== name);
  await waitFor<void>({
    what: `etcd to have a quorum without ${name}`,
    seconds: inputs.timeouts.ready,
    signal: session.signal,
    progress: (line) => report(session.resource, line),
    firstPauseMilliseconds: 1000,
    probe: async () => {
      const asked = others.length > 0 ? others : controlPlanes;
      const { members } = await seeEtcdMembers(session, inputs.specification.name, asked);
      const refusal = refuseMemberAbsence(members, name);
      return refusal ? { pending: refusal } : { done: undefined };
    },
  });
}
