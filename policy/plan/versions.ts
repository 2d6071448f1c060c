import { valueAt } from "../../lib/validation/validation-issue";
import { KUBERNETES_MINORS, NEWEST_VERSION } from "../../providers/kubeadm/plan/cluster/kubernetes-minors";
import { compareVersions, minorOf, parseVersion } from "../../providers/kubeadm/plan/rollout/versions";
import { presentSkew } from "../../providers/kubeadm/plan/rollout/state";
import { isOwn, objectsOf, type PolicyResource, type ResourceRule, type StackRule } from "./rule";

/** Returns the Kubernetes version that a resource asks for, without a leading v. */
function versionOf(resource: PolicyResource): string | undefined {
  const { type, values } = resource;
  const version = isOwn(resource, "ClusterInit")
    ? valueAt(values, ["specification", "version"])
    : isOwn(resource, "MachinePoolReady")
      ? values["version"]
      : type === "kubernetes:helm.sh/v3:Release"
        ? valueAt(values, ["values", "kubernetesVersion"])
        : undefined;
  const text = typeof version === "string" ? version.replace(/^v/, "") : "";
  return parseVersion(text) ? text : undefined;
}

const addDays = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);

interface SupportParameters {
  graceDays: number;
  endOfLife: Record<string, string>;
}

/**
 * Returns the rule that the community still supports the Kubernetes version.
 *
 * @param today YYYY-MM-DD
 */
export const supportedVersions = (today: string): ResourceRule<SupportParameters> => ({
  name: "supported-versions",
  description: "The Kubernetes version is in its support window.",
  parameters: {
    graceDays: {
      type: "integer",
      description: "Days for which a version is accepted after the end of its support.",
      default: 0,
    },
    endOfLife: {
      type: "object",
      description:
        'Ends of support that foresail does not know, or of your distributor: {"1.38": "2028-02-28"}.',
      default: {},
    },
  },
  check(resource, { graceDays, endOfLife }) {
    const version = versionOf(resource);
    if (version === undefined) return [];
    const minor = minorOf(version);
    const end = endOfLife[minor] ?? KUBERNETES_MINORS[minor]?.endOfLife;
    const fix = "upgrade to a minor that is supported (kubernetes.io/releases)";
    if (end === undefined)
      return compareVersions(version, NEWEST_VERSION) < 0
        ? [{ problem: `Kubernetes ${version} is no longer supported`, fix }]
        : [];
    if (today <= addDays(end, graceDays)) return [];
    return [{ problem: `the support of Kubernetes ${minor} ended on ${end}`, fix }];
  },
});

/** The versions of a cluster's nodes fit each other. */
export const versionSkew: StackRule = {
  name: "version-skew",
  description: "The versions of the nodes are within Kubernetes' version skew policy.",
  parameters: {},
  checkStack: (resources) =>
    resources
      .filter((resource) => isOwn(resource, "NodeRollout"))
      .flatMap(({ urn, values }) => {
        const nodes = objectsOf(values["nodes"]).flatMap(({ name, role, version }) =>
          typeof version === "string" && parseVersion(version)
            ? { name: String(name), controlPlane: role === "control-plane", kubeletVersion: version }
            : [],
        );
        return presentSkew(nodes).map((problem) => ({
          urn,
          problem,
          fix: "resume what is paused in cluster.rollout, and let the rollout finish",
        }));
      }),
};
