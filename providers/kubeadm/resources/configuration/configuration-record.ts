import type { KubernetesClient, KubernetesObject } from "../../../../lib/kubernetes";
import { CLUSTER_HISTORY } from "../../../../lib/kubernetes/own-objects";
import { isKnown } from "../../../../lib/unknown";
import type { ClusterSpecification } from "../../plan/cluster/specification";
import {
  type ConfigurationRecord,
  interruptedParts,
  parseRecord,
  type WrittenPart,
} from "../../plan/configuration/configuration-record";

type Stored = KubernetesObject & { data?: Record<string, string> };

/** The key of the ConfigMap kube-system/foresail-history, which the read-only account may read in every cluster. */
const KEY = "configuration";

/** Returns which settings the cluster's own objects may have. */
const recordIn = (history: Stored | undefined): ConfigurationRecord => parseRecord(history?.data?.[KEY]);

/** Changes the record, and returns what it was. */
export async function changeRecord(
  kubernetes: KubernetesClient,
  change: (record: ConfigurationRecord) => ConfigurationRecord,
): Promise<ConfigurationRecord> {
  let before: ConfigurationRecord = {};
  await kubernetes.change<Stored>(CLUSTER_HISTORY, (found) => {
    before = recordIn(found);
    return { data: { [KEY]: JSON.stringify(change(before)) } };
  });
  return before;
}

/** Which parts the ClusterInit of each cluster writes in this run. */
const writes = new Map<string, readonly WrittenPart[]>();

/** Keeps them for the check that looks for what an interrupted run left in the other parts. */
export const rememberWrites = (cluster: string, parts: readonly WrittenPart[]): void =>
  void writes.set(cluster, parts);

/**
 * Returns the parts in which a run that was killed left other settings than those of the stack, apart from those that the
 * ClusterInit writes in this run. None if the history is not known, or the ClusterInit is left out of this run.
 */
export function interruptedWrites(
  specification: ClusterSpecification,
  history: KubernetesObject | undefined,
): WrittenPart[] {
  const others = isKnown(specification) ? writes.get(specification.name) : undefined;
  if (others === undefined) return [];
  return interruptedParts(recordIn(history), specification).filter((part) => !others.includes(part));
}
