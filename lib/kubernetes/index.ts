export { type ApplyOptions, type ConnectOptions, type DeleteOptions, KubernetesClient } from "./client";
export { drainNode, type DrainOptions, DrainRefused, setUnschedulable } from "./drain/drain";
export { tryEviction } from "./drain/eviction";
export { awaitDetached, nodesWithVolumes } from "./drain/volumes";
export { KindNotServed, KubernetesError, KubernetesUnreachable } from "./errors";
export { type NodeEvent, recordNodeEvent } from "./events";
export { type HistoryEntry, recordHistory } from "./history";
export { acceptedKubeconfig, FetchedKubeconfig, KubeconfigRefused } from "./fetched-kubeconfig";
export type { ClusterAccess } from "./kubeconfig";
export { acquireLease, type LeaseHandle, LeaseHeld, LeaseLost } from "./lease";
export { type LeaseHolder, PAUSE_REQUESTED, pauseRequested } from "./lease-holder";
export {
  type KubernetesObject,
  type LeaseObject,
  type NewObject,
  type Node,
  type ObjectRef,
  type Pod,
} from "./objects";
export type { ListArgs } from "./list";
export type { WatchArgs } from "./watch";
export { unavailableExtensions } from "./unavailable-extensions";
export { CLUSTER_HISTORY, CLUSTER_LEASE } from "./own-objects";
