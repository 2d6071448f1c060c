export {
  type ApplyOptions,
  type ConnectOptions,
  type DeleteOptions,
  KubernetesClient,
  type ListArgs,
} from "./client";
export { drainNode, type DrainOptions, DrainRefused, setUnschedulable } from "./drain/drain";
export { KindNotServed, KubernetesError, KubernetesUnreachable } from "./errors";
export { type NodeEvent, recordNodeEvent } from "./events";
export { type HistoryEntry, recordHistory } from "./history";
export { type ClusterAccess, FetchedKubeconfig, KubeconfigRefused } from "./kubeconfig";
export { acquireLease, type LeaseHandle, LeaseHeld, LeaseLost } from "./lease";
export { CLUSTER_LEASE, type LeaseHolder, PAUSE_REQUESTED, pauseRequested } from "./lease-holder";
export { type KubernetesObject, type NewObject, type Node, type ObjectRef, type Pod } from "./objects";
export type { WatchArgs } from "./watch";
