export { type ConnectOptions, type DeleteOptions, KubernetesClient, type ListArgs } from "./client";
export { drainNode, type DrainOptions, DrainRefused, setUnschedulable } from "./drain";
export { KubernetesError, KubernetesUnreachable } from "./errors";
export type { ClusterAccess } from "./kubeconfig";
export { acquireLease, type LeaseHandle, LeaseHeld, type LeaseHolder, LeaseLost } from "./lease";
export {
  describeRef,
  type KubernetesObject,
  type NewObject,
  type Node,
  type ObjectRef,
  type Pod,
} from "./objects";
export type { WatchArgs } from "./watch";
