import type { Budget, PlacedPod } from "../../lib/kubernetes/drain/budgets";
import type { Claim, SchedulableNode, SchedulablePod, Volume } from "../../lib/kubernetes/drain/placement";
import type { NodeParts } from "../../providers/kubeadm/plan/rollout/observed";

/** A Pod as far as a forecast looks at it. */
export type ForecastPod = PlacedPod & SchedulablePod;

/** A certificate that the cluster or its reader depends on. */
export interface SeenCertificate {
  /** "the API server's certificate (https://10.0.0.1:6443)" */
  what: string;
  /** ISO time */
  notAfter: string;
}

/** Everything that was read of a cluster; what could not be read is undefined here, and in words below. */
export interface ClusterFacts {
  server: string;
  nodes: (NodeParts & SchedulableNode)[];
  pods?: ForecastPod[];
  budgets?: Budget[];
  /** of pods under a budget; absent too when none of them uses any */
  claims?: Claim[];
  volumes?: Volume[];
  /** kubernetesVersion of kubeadm-config */
  clusterVersion?: string;
  certificates: SeenCertificate[];
  /** the API server's metrics, in Prometheus' text format */
  metrics?: string;
  notes: string[];
  /** what could not be read and could hide something in the way, each in words */
  unread: string[];
}

/** kubernetesVersion of the ConfigMap kubeadm-config, without its v. */
export function clusterVersionOf(clusterConfiguration: string | undefined): string | undefined {
  return /^kubernetesVersion:\s*["']?v?([^\s"']+)/m.exec(clusterConfiguration ?? "")?.[1];
}
