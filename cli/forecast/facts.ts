import type { Places, SchedulableNode } from "../../lib/kubernetes/drain/placement";
import type { Budget, PodParts } from "../../lib/kubernetes/drain/plan";
import type { NodeParts } from "../../providers/kubeadm/plan/rollout/observed";

/** A certificate that the cluster or the kubeconfig's user depends on. */
export interface SeenCertificate {
  /** "the API server's certificate (https://10.0.0.1:6443)" */
  what: string;
  /** whether it belongs to the kubeconfig; otherwise to the cluster */
  isOfKubeconfig?: true;
  /** ISO time */
  notAfter: string;
}

/**
 * Everything that was read from a cluster; what could not be read is undefined here and described in `notes` or
 * `unread`.
 */
export interface ClusterFacts {
  server: string;
  nodes: (NodeParts & SchedulableNode)[];
  pods?: PodParts[];
  budgets?: Budget[];
  /** of pods under a budget; undefined also when none of them uses one */
  claims?: Places["claims"];
  volumes?: Places["volumes"];
  /** kubernetesVersion of kubeadm-config */
  clusterVersion?: string;
  certificates: SeenCertificate[];
  /** the API server's metrics, in Prometheus text format */
  metrics?: string;
  notes: string[];
  /** messages about what could not be read and may hide a blocker */
  unread: string[];
}

/** Returns the kubernetesVersion of the ConfigMap kubeadm-config without its v. */
export function clusterVersionOf(clusterConfiguration: string | undefined): string | undefined {
  return /^kubernetesVersion:\s*["']?v?([^\s"']+)/m.exec(clusterConfiguration ?? "")?.[1];
}

/** A problem that a rollout would encounter. */
export interface Finding {
  about:
    | "rollout"
    | "skew"
    | "node"
    | "budget"
    | "placement"
    | "unmanaged pod"
    | "emptyDir"
    | "certificate"
    | "API version";
  /** blocks: the rollout would be refused, stop, or break something; warns: it continues with a loss or a risk */
  weight: "blocks" | "warns";
  words: string;
  /** how to fix it */
  fix: string;
}
