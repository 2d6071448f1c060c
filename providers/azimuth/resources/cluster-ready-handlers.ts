import type { Handlers } from "../../../lib/pulumi/handler-types";
import { isKnown } from "../../../lib/unknown";
import { waitFor } from "../../../lib/wait";
import { askCluster } from "../../kubernetes/resources/inputs";
import type { ClusterReadiness } from "../client/cluster-readiness";
import { type ClusterReadyStep, clusterReadySteps } from "../plan/steps";
import type { ClusterReadyInputs as Inputs, ClusterReadyOutputs as Outputs } from "./declarations";
import { clusterHandlers, onManagement, reportOf } from "./management";

const TYPE = "ClusterReady";
const loaded = () => import("../client/cluster-readiness.js");

/** Returns what the next run does: it waits for a change to arrive, for machines that are not ready, or for access. */
async function stepsOf(olds: Partial<Outputs>, news: Inputs): Promise<ClusterReadyStep[]> {
  const { fingerprint, timeoutSeconds } = news;
  const wait: ClusterReadyStep = { kind: "wait", seconds: String(timeoutSeconds) };
  if (!isKnown([fingerprint]) || olds.fingerprint !== fingerprint) return [wait];
  const asked = await askCluster(news, async (client) => (await loaded()).readClusterAccess(client, news));
  if ("silence" in asked) return [];
  const { readiness } = asked.answer;
  if (readiness.ready) return [];
  return [{ ...wait, why: readiness.why }];
}

export const handlers: Handlers = {
  ...clusterHandlers<Inputs, Outputs>({
    async check(olds, news) {
      const steps = (await stepsOf(olds, news)).map(clusterReadySteps.format);
      for (const step of steps) reportOf(TYPE, news, step);
      return { inputs: { ...news, steps } };
    },

    isChanged: (_olds, news) => (news.steps ?? []).length > 0,

    write: (inputs) =>
      onManagement(TYPE, inputs, "wait until the machines are ready", async (work) => {
        const { readClusterAccess } = await loaded();
        const { management, signal, progress } = work;
        const found = await waitFor<Required<ClusterReadiness>>({
          what: `the machines of ${inputs.namespace}/${inputs.cluster} to be ready`,
          seconds: inputs.timeoutSeconds,
          signal,
          progress,
          async probe() {
            const { readiness, kubeconfig } = await readClusterAccess(management, inputs);
            if (!readiness.ready) return { pending: readiness.why };
            if (kubeconfig === undefined)
              return { pending: "Cluster API has not written the kubeconfig yet" };
            return { done: { readiness, kubeconfig } };
          },
        });
        return { ...inputs, phase: found.readiness.phase, clusterKubeconfig: found.kubeconfig };
      }),
  }),

  async read(id, outputs: Outputs) {
    const asked = await askCluster(outputs, async (client) =>
      (await loaded()).readClusterAccess(client, outputs),
    );
    if ("silence" in asked) {
      reportOf(TYPE, outputs, `could not be read, so what is recorded stays: ${asked.silence}`);
      return { id, props: outputs };
    }
    const { readiness, kubeconfig = outputs.clusterKubeconfig } = asked.answer;
    return { id, props: { ...outputs, phase: readiness.phase, clusterKubeconfig: kubeconfig } };
  },
};
