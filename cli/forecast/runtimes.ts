import { compareVersions, minorsBetween, parseVersion } from "../../providers/kubeadm/plan/rollout/versions";
import { listed } from "../../lib/text/quote";
import { blocks, type Finding, warns } from "./findings";

/** A node with its container runtime, as its Node reports both. */
export interface NodeRuntime {
  name: string;
  /** without the leading v */
  kubeletVersion: string;
  /** "containerd://1.7.27" */
  containerRuntimeVersion: string;
}

interface RuntimeRule {
  /** the first version of Kubernetes to which this applies */
  from: string;
  runtime: "containerd" | "cri-o";
  /** the first version of the runtime that is accepted */
  least: string;
  why: string;
  /** an upgrade is possible; it is only not supported any longer */
  warns?: true;
}

const CRI_V1 = "the kubelet uses only version v1 of the container runtime interface";
const RUNTIME_CONFIG = "the kubelet does not start with a runtime that can't tell it the cgroup driver";

/**
 * Runtimes that a version of Kubernetes does not support, the strictest first. Sources: kubernetes.io, "Container
 * Runtimes" (the cgroup driver) and the release notes of 1.26 (CRI v1alpha2); containerd.io, "Kubernetes support".
 */
const RULES: readonly RuntimeRule[] = [
  { from: "1.38.0", runtime: "containerd", least: "2.0.0", why: RUNTIME_CONFIG },
  { from: "1.38.0", runtime: "cri-o", least: "1.28.0", why: RUNTIME_CONFIG },
  { from: "1.26.0", runtime: "containerd", least: "1.6.0", why: CRI_V1 },
  { from: "1.26.0", runtime: "cri-o", least: "1.20.0", why: CRI_V1 },
  {
    from: "1.36.0",
    runtime: "containerd",
    least: "2.0.0",
    why: "containerd 1 gets no fixes any more, and kubelets of 1.38 do not start with it",
    warns: true,
  },
];

/** Returns findings for the container runtimes of nodes that the target version does not support. */
export function runtimeFindings(nodes: readonly NodeRuntime[], target: string): Finding[] {
  const byText = new Map<string, NodeRuntime[]>();
  for (const node of nodes)
    byText.set(node.containerRuntimeVersion, [...(byText.get(node.containerRuntimeVersion) ?? []), node]);
  return [...byText].flatMap(([text, users]) => {
    const [, runtime = "", version = ""] = /^([a-z-]+):\/\/v?(\d+\.\d+\.\d+)/.exec(text) ?? [];
    if (runtime === "docker") return dockerFindings(text, users, target);
    const rule = RULES.find(
      ({ from, least, ...other }) =>
        other.runtime === runtime && minorsBetween(from, target) >= 0 && compareVersions(version, least) < 0,
    );
    if (rule === undefined) return [];
    const words = `${where(users)}: Kubernetes ${target} does not support ${text}: ${rule.why}`;
    const fix = `upgrade it to ${runtime} ${rule.least} or later first`;
    return [rule.warns ? warns("runtime", words, fix) : blocks("runtime", words, fix)];
  });
}

/** Kubelets before 1.24 can use Docker without cri-dockerd, later ones can't. */
function dockerFindings(text: string, users: readonly NodeRuntime[], target: string): Finding[] {
  const old = users.filter(
    ({ kubeletVersion }) => parseVersion(kubeletVersion) && minorsBetween(kubeletVersion, "1.24.0") > 0,
  );
  if (old.length === 0 || minorsBetween("1.24.0", target) < 0) return [];
  const words = `${where(old)}: Kubernetes ${target} does not support ${text}: it has no dockershim`;
  return [blocks("runtime", words, "install containerd or cri-dockerd first")];
}

const where = (nodes: readonly NodeRuntime[]): string => listed(nodes.map(({ name }) => name));
