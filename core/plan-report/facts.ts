import type { DrainablePod } from "../drain/plan";
import type { NodeParts } from "../rollout/observed";

/** A Pod as far as a forecast looks at it. */
export interface ForecastPod extends DrainablePod {
  metadata?: DrainablePod["metadata"] & { labels?: Record<string, string> };
  spec?: DrainablePod["spec"] & { nodeName?: string };
}

/** A policy/v1 PodDisruptionBudget as far as a forecast looks at it. */
export interface Budget {
  metadata?: { name?: string; namespace?: string };
  spec?: { selector?: LabelSelector };
  status?: { disruptionsAllowed?: number; currentHealthy?: number; desiredHealthy?: number };
}

export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

/** A certificate that the cluster or its reader depends on. */
export interface SeenCertificate {
  /** "the API server's certificate (https://10.0.0.1:6443)" */
  what: string;
  /** ISO time */
  notAfter: string;
}

/** Everything that was read of a cluster; what could not be read is a note, and undefined here. */
export interface ClusterFacts {
  server: string;
  nodes: NodeParts[];
  pods?: ForecastPod[];
  budgets?: Budget[];
  /** kubernetesVersion of kubeadm-config */
  clusterVersion?: string;
  certificates: SeenCertificate[];
  /** the API server's metrics, in Prometheus' text format */
  metrics?: string;
  notes: string[];
}

/** kubernetesVersion of the ConfigMap kubeadm-config, without its v. */
export function clusterVersionOf(clusterConfiguration: string | undefined): string | undefined {
  return /^kubernetesVersion:\s*["']?v?([^\s"']+)/m.exec(clusterConfiguration ?? "")?.[1];
}
