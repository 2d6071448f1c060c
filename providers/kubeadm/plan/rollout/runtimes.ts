import { listed, printable } from "../../../../lib/text/quote";
import type { RolloutStep } from "./desired";
import { compareVersions, minorsBetween } from "./versions";

/** A runtime that a version of Kubernetes does not support. */
export interface RuntimeRule {
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

/**
 * Returns the rule that a runtime breaks; undefined if Kubernetes supports it, or if it is not known.
 *
 * @param runtime as a Node reports it, "containerd://1.7.27"
 */
export function brokenRule(runtime: string, target: string): RuntimeRule | undefined {
  const [, name = "", version = ""] = /^([a-z-]+):\/\/v?(\d+\.\d+\.\d+)/.exec(runtime) ?? [];
  return RULES.find(
    ({ from, least, ...other }) =>
      other.runtime === name && minorsBetween(from, target) >= 0 && compareVersions(version, least) < 0,
  );
}

/** Returns the version of Kubernetes that each node gets and runs on the container runtime that it has. */
export function versionsOnRuntimes(
  steps: readonly Pick<RolloutStep, "node" | "software">[],
): Map<string, string> {
  return new Map(
    steps.flatMap(({ node, software }) => {
      const kubelet = software.find(({ name }) => name === "kubelet");
      const isKept = software.every(({ name }) => name !== "containerd");
      return kubelet !== undefined && isKept ? [[node, kubelet.to] as const] : [];
    }),
  );
}

/**
 * Returns why nodes can't get a version with the container runtime that they have, once for each version and runtime.
 *
 * @param runtimes by node, as the Nodes report them
 * @param targets versions of Kubernetes by node
 */
export function runtimeRefusals(
  runtimes: ReadonlyMap<string, string>,
  targets: ReadonlyMap<string, string>,
): string[] {
  const nodes = new Map<string, string[]>();
  for (const [node, target] of targets) {
    const runtime = runtimes.get(node) ?? "";
    const rule = brokenRule(runtime, target);
    if (rule === undefined || rule.warns) continue;
    const words = `Kubernetes ${target} does not run on ${printable(runtime)}: ${rule.why}. Upgrade it to ${rule.runtime} ${rule.least} or later first`;
    nodes.set(words, [...(nodes.get(words) ?? []), node]);
  }
  return [...nodes].map(([words, names]) => `${listed(names)}: ${words}`);
}
