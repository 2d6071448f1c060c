import { minorsBetween, parseVersion } from "../../providers/kubeadm/plan/rollout/versions";
import type { Finding } from "./facts";

/** Removed API versions, by the first minor version without them (kubernetes.io, deprecated API migration guide). */
const REMOVALS: readonly { release: string; version: string; resources: string; instead: string }[] = [
  { release: "1.25", version: "policy/v1beta1", resources: "poddisruptionbudgets", instead: "policy/v1" },
  {
    release: "1.25",
    version: "policy/v1beta1",
    resources: "podsecuritypolicies",
    instead: "Pod Security Admission",
  },
  { release: "1.25", version: "batch/v1beta1", resources: "cronjobs", instead: "batch/v1" },
  {
    release: "1.25",
    version: "discovery.k8s.io/v1beta1",
    resources: "endpointslices",
    instead: "discovery.k8s.io/v1",
  },
  { release: "1.25", version: "events.k8s.io/v1beta1", resources: "events", instead: "events.k8s.io/v1" },
  { release: "1.25", version: "node.k8s.io/v1beta1", resources: "runtimeclasses", instead: "node.k8s.io/v1" },
  {
    release: "1.25",
    version: "autoscaling/v2beta1",
    resources: "horizontalpodautoscalers",
    instead: "autoscaling/v2",
  },
  {
    release: "1.26",
    version: "autoscaling/v2beta2",
    resources: "horizontalpodautoscalers",
    instead: "autoscaling/v2",
  },
  ...["1.26 v1beta1", "1.29 v1beta2", "1.32 v1beta3"].flatMap((text) => {
    const [release = "", beta = ""] = text.split(" ");
    const group = "flowcontrol.apiserver.k8s.io";
    return ["flowschemas", "prioritylevelconfigurations"].map((resources) => ({
      release,
      version: `${group}/${beta}`,
      resources,
      instead: `${group}/v1`,
    }));
  }),
  {
    release: "1.27",
    version: "storage.k8s.io/v1beta1",
    resources: "csistoragecapacities",
    instead: "storage.k8s.io/v1",
  },
];

/**
 * Returns findings for API versions that were requested since the API server started and that the target no longer has,
 * from the metric apiserver_requested_deprecated_apis.
 */
export function removalFindings(metrics: string, target: string): Finding[] {
  const found = new Map<string, Finding>();
  for (const line of metrics.split("\n")) {
    if (!line.startsWith("apiserver_requested_deprecated_apis{") || /} 0$/.test(line)) continue;
    const label = (name: string) => new RegExp(`[{,]${name}="([^"]*)"`).exec(line)?.[1] ?? "";
    const release = label("removed_release");
    if (!parseVersion(`${release}.0`) || minorsBetween(`${release}.0`, target) < 0) continue;
    const version = [label("group"), label("version")].filter(Boolean).join("/");
    const resources = label("resource");
    const instead = REMOVALS.find(
      (known) => known.version === version && known.resources === resources,
    )?.instead;
    found.set(`${version} ${resources}`, {
      about: "API version",
      weight: "blocks",
      words: `${version} ${resources} is in use, and Kubernetes ${release} removes it`,
      fix: instead ? `move its users to ${instead}` : "move its users to a newer version of it",
    });
  }
  return [...found.values()];
}

/** Returns the removed API versions that the user must check when the metrics can't be read. */
export function removedBetween(from: string, target: string): string[] {
  return REMOVALS.filter(
    ({ release }) => minorsBetween(from, `${release}.0`) > 0 && minorsBetween(`${release}.0`, target) >= 0,
  ).map(({ version, resources }) => `${version} ${resources}`);
}
