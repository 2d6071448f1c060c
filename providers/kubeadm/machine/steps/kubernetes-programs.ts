/** Kubernetes' own programs on a node. An upgrade changes kubeadm first, the others after kubeadm has done its work. */
export type KubernetesProgram = "kubeadm" | "kubelet" | "kubectl";

export const KUBERNETES_PROGRAMS: readonly KubernetesProgram[] = ["kubeadm", "kubelet", "kubectl"];
