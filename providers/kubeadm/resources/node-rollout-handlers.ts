import { isDeepStrictEqual } from "node:util";
import { PartialFailure } from "../../../lib/pulumi/failure";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { nodeRolloutSteps } from "../plan/steps";
import { isKnownList, isUnknown } from "../../../lib/unknown";
import { report, reportRecorded } from "../../../lib/pulumi/log";
import { unreachedMachines } from "./machines-session";
import { nodeRolloutName, type NodeRolloutInputs, type NodeRolloutOutputs } from "./inputs";

const READ_SECONDS = 10;

/** Inputs for reaching the nodes; a change of them is recorded without a step on any node. */
const RECORDED = ["specification", "machines", "jumpHost", "credentials", "kubeconfig", "rollout"] as const;

export const handlers: Handlers = {
  async check(olds: Partial<NodeRolloutInputs>, news: NodeRolloutInputs) {
    if (!isKnownList(news.machines) || isUnknown(news.specification))
      return {
        inputs: {
          ...news,
          steps: [nodeRolloutSteps.format({ kind: "unknown", until: "the machines exist" })],
        },
        failures: [],
      };
    const { previewRollout } = await import("./rollout/preview.js");
    const { refusals, notes, leftOut, ...preview } = await previewRollout(olds, news);
    const steps = preview.steps.map(nodeRolloutSteps.format);
    for (const line of [...steps, ...notes]) report(nodeRolloutName(news), line);
    reportRecorded(nodeRolloutName(news), olds, { ...news, steps }, RECORDED);
    return {
      inputs: { ...news, steps, leftOut },
      failures: refusals.map((reason) => ({ property: "cluster.version", reason })),
    };
  },

  diff(_id, olds: NodeRolloutOutputs, news: NodeRolloutInputs) {
    const recorded = RECORDED.some((key) => !isDeepStrictEqual(olds[key], news[key]));
    const unreached = isKnownList(news.machines) ? unreachedMachines(news.specification.name) : [];
    return Promise.resolve({ changes: recorded || (news.steps ?? []).length > 0 || unreached.length > 0 });
  },

  async create(inputs: NodeRolloutInputs) {
    const id = inputs.specification.name;
    return { id, outs: await converge(id, inputs, { nodes: [], version: inputs.specification.version }) };
  },

  async update(id, olds: NodeRolloutOutputs, news: NodeRolloutInputs) {
    return { outs: await converge(id, news, olds) };
  },

  async read(id, outputs: NodeRolloutOutputs) {
    try {
      const { KubernetesClient } = await import("../../../lib/kubernetes/index.js");
      const { observationAccess } = await import("./preview-reading.js");
      const { observe } = await import("./rollout/observation.js");
      const access = { kubeconfig: observationAccess(outputs.kubeconfig) };
      const kubernetes = await KubernetesClient.connect(access, { seconds: READ_SECONDS });
      const { outputs: nodes, desired } = await observe(kubernetes, outputs);
      return { id, props: { ...outputs, nodes, version: desired.clusterVersion ?? outputs.version } };
    } catch (error) {
      report(nodeRolloutName(outputs), `could not be read, so what is recorded stays: ${String(error)}`);
      return { id, props: outputs };
    }
  },
};

async function converge(
  id: string,
  inputs: NodeRolloutInputs,
  last: Pick<NodeRolloutOutputs, "nodes" | "version">,
): Promise<NodeRolloutOutputs> {
  const { convergeVersions } = await import("./rollout/converge.js");
  const { failure, ...known } = await convergeVersions(inputs, last);
  const outs = { ...inputs, ...known };
  if (failure) throw new PartialFailure(id, outs, failure.context, failure.error);
  return outs;
}
