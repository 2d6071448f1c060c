import { KubernetesClient } from "../../../../lib/kubernetes";
import { nextSteps } from "../../plan/rollout/next";
import type { FailureContext } from "../../../../lib/pulumi/failure";
import { ClusterSession } from "../cluster-session";
import { report } from "../../../../lib/pulumi/log";
import { userAgent } from "../../../../lib/version";
import { type NodeOutput, nodeRolloutName, type NodeRolloutInputs } from "../inputs";
import { observe } from "./observation";
import { NodeFailed, RolloutRun } from "./run";

interface RolloutResult {
  nodes: NodeOutput[];
  version: string;
  failure?: { context: FailureContext; error: unknown };
}

/**
 * Brings every node to the desired versions. The result includes everything that was done before a failure. When
 * nothing is due, nothing is written and the Lease is not acquired.
 *
 * @param last what was known before, for an unreachable cluster
 */
export async function convergeVersions(
  inputs: NodeRolloutInputs,
  last: Pick<RolloutResult, "nodes" | "version">,
): Promise<RolloutResult> {
  const resource = nodeRolloutName(inputs);
  const known = { nodes: last.nodes, version: last.version };
  let step = "reach the cluster";
  let kubernetes: KubernetesClient | undefined;
  let session: ClusterSession | undefined;
  const look = async (client: KubernetesClient) => {
    const observation = await observe(client, inputs);
    known.nodes = observation.outputs;
    known.version = observation.desired.clusterVersion ?? inputs.specification.version;
    return observation;
  };
  try {
    kubernetes = await KubernetesClient.connect(
      { kubeconfig: inputs.kubeconfig },
      {
        seconds: inputs.timeouts.ready,
        userAgent: userAgent(inputs),
        progress: (line) => report(resource, line),
      },
    );
    const { nodes, desired, unreached } = await look(kubernetes);
    const next = nextSteps(nodes, desired, { unreached });
    if (next.done && next.leftOut.length === 0) return known;
    step = "roll out";
    session = await ClusterSession.open(resource, inputs);
    await new RolloutRun(session, inputs).toEnd();
    step = "read the nodes";
    await look(kubernetes);
    return known;
  } catch (error) {
    if (kubernetes) await look(kubernetes).catch(() => undefined);
    const failed = error instanceof NodeFailed ? error.step : step;
    return { ...known, failure: { context: { resource, step: failed }, error } };
  } finally {
    kubernetes?.close();
    await session
      ?.end()
      .catch((error: unknown) => report(resource, `could not give the Lease back: ${String(error)}`));
  }
}
