import { deletionState, type LeavingObject } from "../../kubernetes/plan/deletion";
import { API } from "../plan/names";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import type { ClusterGoneInputs as Inputs } from "./declarations";
import { clusterHandlers, onManagement } from "./management";

export const handlers: Handlers = clusterHandlers<Inputs>({
  isChanged: (olds, news) => olds.timeoutSeconds !== news.timeoutSeconds,
  write: (inputs) => inputs,

  async delete(olds) {
    const { namespace, cluster: name } = olds;
    await onManagement("ClusterGone", olds, "wait until the cluster is gone", async (work) => {
      const { management, signal, progress } = work;
      const kind = { apiVersion: API.clusterApi, kind: "Cluster", namespace };
      if (!(await management.paths.serves(kind.apiVersion, kind.kind))) return;
      await management.watchUntil<true, LeavingObject>({
        ...kind,
        name,
        what: `the cluster ${namespace}/${name} to be gone`,
        seconds: olds.timeoutSeconds,
        signal,
        progress,
        decide: ([cluster]) => {
          if (!cluster) return { done: true };
          // its chart keeps it, or it was created again
          if (cluster.metadata?.deletionTimestamp === undefined) return { pending: "not being deleted" };
          return { pending: deletionState(cluster, "being deleted") };
        },
      });
    });
  },
});
