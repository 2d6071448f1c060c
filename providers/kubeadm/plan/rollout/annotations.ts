/** The annotations of seed 004; `[software]` stands for what the annotation is about. */
export const DEFAULT_ANNOTATION_PATTERN = "alpha.[software].caos.ch";

/** What makes a node's Kubernetes version; the three always move together, in one write. */
export const KUBERNETES_SOFTWARE = ["kubelet", "kubeadm", "kubectl"] as const;
/** What may roll by the same protocol besides. */
const FURTHER_SOFTWARE = ["containerd", "os-packages", "node-agent"] as const;
export const ALL_SOFTWARE: readonly string[] = [...KUBERNETES_SOFTWARE, ...FURTHER_SOFTWARE];

/** Set by the rollout on a node that somebody had cordoned before it came: such a node stays cordoned. */
export const WAS_CORDONED = "foresail/was-cordoned";

/** The keys of a node's annotations. */
export interface AnnotationKeys {
  /** "true" while the change window of this node is open; written by the rollout */
  changesAllowed: string;
  /** "false" before the agent touches software, "true" after; written by the agent */
  ready: string;
  /** the agent's last failure in words, removed on success */
  message: string;
  /** of the wish that the agent was installed with; written by the agent */
  revision: string;
  /** the version that the agent must install now; written by the rollout */
  desired(software: string): string;
  /** the version that the agent found; written by the agent */
  current(software: string): string;
}

/** @param pattern a DNS subdomain with `[software]` in it */
export function annotationKeys(pattern: string = DEFAULT_ANNOTATION_PATTERN): AnnotationKeys {
  const prefix = (software: string) => pattern.replaceAll("[software]", software);
  return {
    changesAllowed: `${prefix("node")}/changes-allowed`,
    ready: `${prefix("node")}/ready`,
    message: `${prefix("node")}/message`,
    revision: `${prefix("node-agent")}/revision`,
    desired: (software) => `${prefix(software)}/desired-version`,
    current: (software) => `${prefix(software)}/current-version`,
  };
}

/** A version as its annotation has it: Kubernetes' own programs with the leading v, everything else as it is. */
export function annotationValue(software: string, version: string): string {
  return (KUBERNETES_SOFTWARE as readonly string[]).includes(software) ? `v${version}` : version;
}
