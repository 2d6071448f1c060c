import { listed } from "../../lib/text/quote";

/** The fields of a v1 Node that show how its cluster was made. */
export interface NodeMarks {
  metadata?: { name?: string; labels?: Record<string, string> };
  spec?: { providerID?: string };
  status?: { nodeInfo?: { kubeletVersion?: string; osImage?: string; containerRuntimeVersion?: string } };
}

/** How a cluster was made that kubeadm did not make. */
export interface Distribution {
  /** undefined when only kubeadm's configuration is missing */
  name?: string;
  /** how it was recognized */
  evidence: string;
  /** how its version is upgraded */
  upgrade: string;
}

interface Signs {
  name: string;
  upgrade: string;
  /** a label, or the beginning of one that ends with a slash or a hyphen */
  labels?: readonly string[];
  /** a suffix that versions of its Kubernetes have */
  version?: RegExp;
  osImage?: RegExp;
  providerID?: RegExp;
}

const DISTRIBUTIONS: readonly Signs[] = [
  {
    name: "Azure Kubernetes Service (AKS)",
    upgrade: "az aks upgrade",
    labels: ["kubernetes.azure.com/cluster", "kubernetes.azure.com/agentpool"],
    // AKS puts its nodes into a resource group whose name begins with MC_; Cluster API on Azure does not
    providerID: /^azure:\/\/.*\/resourceGroups\/mc_/i,
  },
  {
    name: "Amazon Elastic Kubernetes Service (EKS)",
    upgrade: "aws eks update-cluster-version, then update its node groups",
    labels: ["eks.amazonaws.com/"],
    version: /-eks-/,
  },
  {
    name: "Google Kubernetes Engine (GKE)",
    upgrade: "gcloud container clusters upgrade",
    labels: ["cloud.google.com/gke-"],
    version: /-gke\./,
  },
  {
    name: "k3s",
    upgrade: "its installer, or the system-upgrade-controller",
    version: /\+k3s\d/,
    providerID: /^k3s:\/\//,
  },
  {
    name: "RKE2",
    upgrade: "its installer, or the system-upgrade-controller",
    version: /\+rke2r\d/,
    providerID: /^rke2:\/\//,
  },
  { name: "k0s", upgrade: "k0sctl apply, or its autopilot", version: /\+k0s/ },
  { name: "Talos Linux", upgrade: "talosctl upgrade-k8s", osImage: /^Talos\b/ },
  {
    name: "kOps",
    upgrade: "kops upgrade cluster, then kops rolling-update cluster",
    labels: ["kops.k8s.io/"],
  },
  { name: "OpenShift", upgrade: "oc adm upgrade", labels: ["node.openshift.io/"] },
  { name: "MicroK8s", upgrade: "snap refresh microk8s", labels: ["microk8s.io/"] },
];

/**
 * Returns how a cluster was made, or undefined when kubeadm made it. Its ConfigMap decides: Cluster API on Azure and
 * EKS Anywhere use kubeadm, too.
 *
 * @param kubeadmConfig the ConfigMap kube-system/kubeadm-config
 * @param serverVersion as the API server reports it, such as "1.35.4-eks-0123456"
 */
export function distributionOf(
  nodes: readonly NodeMarks[],
  kubeadmConfig: "present" | "absent" | "unreadable",
  serverVersion = "",
): Distribution | undefined {
  if (kubeadmConfig === "present") return undefined;
  for (const signs of DISTRIBUTIONS) {
    const { name, upgrade } = signs;
    if (signs.version?.test(serverVersion))
      return { name, upgrade, evidence: `the API server reports version ${serverVersion}` };
    for (const node of nodes) {
      const sign = signOf(node, signs);
      if (sign !== undefined) return { name, upgrade, evidence: `${node.metadata?.name ?? "?"} ${sign}` };
    }
  }
  if (kubeadmConfig === "unreadable") return undefined;
  const evidence = "it has no ConfigMap kube-system/kubeadm-config";
  return { evidence, upgrade: "the tool that made it" };
}

/** Returns what identifies a node: "has the label kops.k8s.io/instancegroup". */
function signOf({ metadata, spec, status }: NodeMarks, signs: Signs): string | undefined {
  const { kubeletVersion = "", osImage = "" } = status?.nodeInfo ?? {};
  const label = Object.keys(metadata?.labels ?? {}).find((key) =>
    signs.labels?.some((sign) => (/[/-]$/.test(sign) ? key.startsWith(sign) : key === sign)),
  );
  if (label !== undefined) return `has the label ${listed([label])}`;
  if (signs.version?.test(kubeletVersion)) return `runs the kubelet ${listed([kubeletVersion])}`;
  if (signs.osImage?.test(osImage)) return `runs ${listed([osImage])}`;
  if (signs.providerID?.test(spec?.providerID ?? ""))
    return `has the providerID ${listed([spec?.providerID ?? ""])}`;
  return undefined;
}
