import type { Taint } from "../machine";

/** A Node of the cluster, as far as membership is concerned. */
export interface ObservedNode {
  name: string;
  /** The group that foresail joined it for; undefined for a Node that foresail has not labelled yet. */
  group?: string;
  controlPlane: boolean;
  ready: boolean;
  /** The Ready condition's last words when it is not ready. */
  reason?: string;
  version: string;
  internalAddress: string;
  labels: Record<string, string>;
  taints: Taint[];
  /** Label keys that the stack set earlier, by its state; empty until `withOwnership` fills them in. */
  ownedLabels: string[];
  /** Taints that it set earlier, as `taintId` writes them. */
  ownedTaints: string[];
  unschedulable: boolean;
}
