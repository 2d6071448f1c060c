import { API } from "../plan/names";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { movedFields } from "./cluster-inputs";
import { onManagement } from "./management";
import type { ClusterGoneInputs as Inputs } from "./cluster-gone";

interface CapiCluster {
  metadata?: { deletionTimestamp?: string; finalizers?: string[] };
  status?: { phase?: string };
}

export const handlers: Handlers = {
  check: (_olds, news: Inputs) => Promise.resolve({ inputs: news, failures: [] }),

  diff(_id, olds: Inputs, news: Inputs) {
    const replaces = movedFields(olds, news);
    const changes =
      replaces.length > 0 ||
      olds.kubeconfig !== news.kubeconfig ||
      olds.timeoutSeconds !== news.timeoutSeconds;
    return Promise.resolve({ changes, replaces });
  },

  create: (inputs: Inputs) => Promise.resolve({ id: `${inputs.namespace}/${inputs.cluster}`, outs: inputs }),

  update: (_id, _olds: Inputs, news: Inputs) => Promise.resolve({ outs: news }),

  async delete(_id, olds: Inputs) {
    const { namespace, cluster: name } = olds;
    await onManagement("ClusterGone", olds, "wait until the cluster is gone", async (work) => {
      const { management, signal, progress } = work;
      const kind = { apiVersion: API.clusterApi, kind: "Cluster", namespace };
      if (!(await management.serves(kind))) return;
      await management.watchUntil<true, CapiCluster>({
        ...kind,
        name,
        what: `the cluster ${namespace}/${name} to be gone`,
        seconds: olds.timeoutSeconds,
        signal,
        progress,
        decide: ([cluster]) => {
          if (!cluster) return { done: true };
          const { deletionTimestamp, finalizers = [] } = cluster.metadata ?? {};
          const held = finalizers.length === 0 ? "" : `, held by ${finalizers.join(", ")}`;
          // not deleted: its chart keeps it, or it was created again
          const state = deletionTimestamp ? (cluster.status?.phase ?? "being deleted") : "not being deleted";
          return { pending: `${state}${held}` };
        },
      });
    });
  },
};
