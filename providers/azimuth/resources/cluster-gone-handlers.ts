import { API } from "../plan/names";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import type { ClusterGoneInputs as Inputs } from "./declarations";
import { clusterHandlers, onManagement } from "./management";

interface CapiCluster {
  metadata?: { deletionTimestamp?: string; finalizers?: string[] };
  status?: { phase?: string };
}

export const handlers: Handlers = clusterHandlers<Inputs>({
  isChanged: (olds, news) => olds.timeoutSeconds !== news.timeoutSeconds,
  write: (inputs) => inputs,

  async delete(olds) {
    const { namespace, cluster: name } = olds;
    await onManagement("ClusterGone", olds, "wait until the cluster is gone", async (work) => {
      const { management, signal, progress } = work;
      const kind = { apiVersion: API.clusterApi, kind: "Cluster", namespace };
      if (!(await management.paths.serves(kind.apiVersion, kind.kind))) return;
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
});
