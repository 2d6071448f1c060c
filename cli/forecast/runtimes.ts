import { brokenRule } from "../../providers/kubeadm/plan/rollout/runtimes";
import { minorsBetween, parseVersion } from "../../providers/kubeadm/plan/rollout/versions";
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

/** Returns findings for the container runtimes of nodes that the target version does not support. */
export function runtimeFindings(nodes: readonly NodeRuntime[], target: string): Finding[] {
  const byText = new Map<string, NodeRuntime[]>();
  for (const node of nodes)
    byText.set(node.containerRuntimeVersion, [...(byText.get(node.containerRuntimeVersion) ?? []), node]);
  return [...byText].flatMap(([text, users]) => {
    if (text.startsWith("docker://")) return dockerFindings(text, users, target);
    const rule = brokenRule(text, target);
    if (rule === undefined) return [];
    const words = `${where(users)}: Kubernetes ${target} does not support ${text}: ${rule.why}`;
    const fix = `upgrade it to ${rule.runtime} ${rule.least} or later first`;
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
