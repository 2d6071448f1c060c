/** Default pattern of the annotations (seed 004); `[software]` is replaced by the name of the software. */
export const DEFAULT_ANNOTATION_PATTERN = "alpha.[software].caos.ch";

/** Programs of a node's Kubernetes version. All three change together, in one write. */
export const KUBERNETES_SOFTWARE = ["kubelet", "kubeadm", "kubectl"] as const;
/** Other software that can roll out by the same protocol. */
const FURTHER_SOFTWARE = ["containerd", "os-packages", "node-agent"] as const;
/** Name under which a node's configuration rolls out by the same protocol. */
export const CONFIGURATION = "configuration";
/** Name under which what others changed in a node's files is reported, and put back by the same protocol. */
export const DRIFT = "drift";
/** Name under which the ends of a node's certificates are reported, and renewed by the same protocol. */
export const CERTIFICATES = "certificates";
/** Name under which pending updates of the operating system are reported, and installed by the same protocol. */
export const OS_UPDATES = "os-updates";
/** Version of `DRIFT` on a node whose files are as foresail left them. */
export const NO_DRIFT = "none";
/** Software whose annotations are protected from the beginning. */
export const VERSIONED_SOFTWARE: readonly string[] = [...KUBERNETES_SOFTWARE, ...FURTHER_SOFTWARE];
export const ALL_SOFTWARE: readonly string[] = [...VERSIONED_SOFTWARE, CONFIGURATION];

/** Set by the rollout on a node that was already cordoned before its step: such a node stays cordoned. */
export const WAS_CORDONED = "foresail/was-cordoned";

/** Value of `changesAllowed` that makes the agent take back what it has changed since the window was opened. */
export const GO_BACK = "back";

/** Value of `finalFailure` when that failed. */
export const BACK_FAILED = "back";

/** Written by the rollout on a node that went back from a change: what was asked of it, and why it failed. */
export const FAILED_CHANGE = "foresail/failed-change";

/** Returns a node's annotation keys. @param pattern a DNS subdomain that contains `[software]` */
export function annotationKeys(pattern: string = DEFAULT_ANNOTATION_PATTERN) {
  const prefix = (software: string) => pattern.replaceAll("[software]", software);
  return {
    /** "true" while the change window of this node is open, or `GO_BACK`; written by the rollout. */
    changesAllowed: `${prefix("node")}/changes-allowed`,
    /** "false" while the agent changes software, "true" afterwards; written by the agent. */
    ready: `${prefix("node")}/ready`,
    /** Message of the agent's last failure, removed on success; written by the agent. */
    message: `${prefix("node")}/message`,
    /** Requests that failed and would fail again, as `software@version` of each; written by the agent since 1.12.0. */
    finalFailure: `${prefix("node")}/final-failure`,
    /** Filesystems that are too full for an upgrade, if any; written by the agent since 1.11.0. */
    shortage: `${prefix("node")}/disk-shortage`,
    /** Revision of the desired state that the agent was installed with; written by the agent. */
    revision: `${prefix("node-agent")}/revision`,
    /** Version that the agent must install now; written by the rollout. */
    desired: (software: string) => `${prefix(software)}/desired-version`,
    /** Version that the agent found; written by the agent. */
    current: (software: string) => `${prefix(software)}/current-version`,
  };
}

/** Returns the annotations by which foresail commands the node agents, and those with which they report. */
export function annotationsBetween(pattern: string, software: readonly string[]) {
  const keys = annotationKeys(pattern);
  return {
    commands: [keys.changesAllowed, ...software.map(keys.desired), WAS_CORDONED, FAILED_CHANGE],
    reports: [keys.ready, keys.message, keys.revision, ...software.map(keys.current)],
  };
}

/** Formats a version for its annotation: Kubernetes' own programs have a leading v. */
export function annotationValue(software: string, version: string): string {
  return (KUBERNETES_SOFTWARE as readonly string[]).includes(software) ? `v${version}` : version;
}

/** Versions that the node agent accepts, as a regular expression for Bash and JavaScript; each is a file name. */
export const AGENT_VERSION_PATTERN = "^[0-9A-Za-z][0-9A-Za-z.+:~-]*$";
