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
  /** Keys that foresail set earlier, so that it takes back only what is its own. */
  ownedLabels: string[];
  ownedTaints: string[];
  unschedulable: boolean;
}
