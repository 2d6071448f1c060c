import type { Taint } from "../machine";

/** A Node of the cluster, with the fields that membership needs. */
export interface ObservedNode {
  name: string;
  /** The group that foresail joined it to; undefined for a Node that foresail has not labeled yet. */
  group?: string;
  controlPlane: boolean;
  ready: boolean;
  /** Reason and message of the Ready condition, when it is not true. */
  reason?: string;
  version: string;
  internalAddress: string;
  labels: Record<string, string>;
  taints: Taint[];
  /** Label keys that the stack set earlier, from its state; empty until `withOwnership` fills them in. */
  ownedLabels: string[];
  /** Taints that the stack set earlier, as formatted by `taintId`. */
  ownedTaints: string[];
  unschedulable: boolean;
}
