/** Kubernetes' own programs on a node. kubeadm goes first in an upgrade, the others after it has done its work. */
export type KubernetesProgram = "kubeadm" | "kubelet" | "kubectl";

export const KUBERNETES_PROGRAMS: readonly KubernetesProgram[] = ["kubeadm", "kubelet", "kubectl"];
