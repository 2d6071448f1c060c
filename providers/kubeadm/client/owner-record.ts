import type { Owner } from "../../../lib/ownership/owner";
import type { KubernetesClient } from "../../../lib/kubernetes";
import { CLUSTER_OWNER, ownerIn } from "../plan/facts/owner-record";

/** Reads the owner that a cluster records. A damaged record names none: the next `up` of the stack that has the cluster restores it. */
export const readOwner = async (kubernetes: Pick<KubernetesClient, "get">): Promise<Owner | undefined> =>
  ownerIn(await kubernetes.get(CLUSTER_OWNER));
