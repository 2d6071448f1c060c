import { taintIssues } from "./machines";
import type { ValidationIssue } from "../../../../lib/validation/validation-issue";
import { shapeIssues } from "./pass-through-shapes";

/** A Kubernetes configuration object that is merged into foresail's own. */
interface PassThroughKind {
  apiVersion: string;
  kind: string;
  /** Dotted fields that foresail sets itself → the configuration to use instead, or why there is none. */
  owned: Readonly<Record<string, string>>;
}

const NODE_REGISTRATION = {
  "nodeRegistration.name": "use the name of the machine",
  "nodeRegistration.criSocket": "foresail installs containerd",
  "nodeRegistration.ignorePreflightErrors": "use cluster.ignorePreflightErrors",
};
const KUBEADM = "kubeadm.k8s.io/v1beta4";

/** Every object that can be passed through, by its key under `cluster`. */
export const PASS_THROUGH = {
  clusterConfiguration: {
    apiVersion: KUBEADM,
    kind: "ClusterConfiguration",
    owned: {
      kubernetesVersion: "use cluster.version",
      controlPlaneEndpoint: "use cluster.endpoint",
      clusterName: "use cluster.name",
      imageRepository: "use cluster.imageRepository",
      certificatesDir: "foresail keeps kubeadm's own folder",
      "networking.podSubnet": "use cluster.network.podSubnet",
      "networking.serviceSubnet": "use cluster.network.serviceSubnet",
      "networking.dnsDomain": "use cluster.network.dnsDomain",
    },
  },
  initConfiguration: {
    apiVersion: KUBEADM,
    kind: "InitConfiguration",
    owned: {
      ...NODE_REGISTRATION,
      bootstrapTokens: "foresail mints a token for each join and deletes it",
      certificateKey: "foresail makes one for each join",
      localAPIEndpoint: "use the internalAddress of the machine",
      dryRun: "use pulumi preview",
    },
  },
  joinConfiguration: {
    apiVersion: KUBEADM,
    kind: "JoinConfiguration",
    owned: {
      ...NODE_REGISTRATION,
      discovery: "foresail mints a token for each join and deletes it",
      controlPlane: "use the role and internalAddress of the machine",
      caCertPath: "foresail keeps kubeadm's own path",
      dryRun: "use pulumi preview",
    },
  },
  kubelet: {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    owned: { clusterDomain: "use cluster.network.dnsDomain", staticPodPath: "kubeadm needs its own folder" },
  },
  kubeProxy: {
    apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
    kind: "KubeProxyConfiguration",
    owned: { clusterCIDR: "use cluster.network.podSubnet" },
  },
} satisfies Record<string, PassThroughKind>;

/** Returns all issues of an object that is passed through; paths are relative to it. */
export function passThroughIssues(
  kind: PassThroughKind,
  object: Readonly<Record<string, unknown>>,
): ValidationIssue[] {
  const identity = (["apiVersion", "kind"] as const).flatMap((field): ValidationIssue[] => {
    if (object[field] === undefined || object[field] === kind[field]) return [];
    return [{ path: [field], message: `must be "${kind[field]}"; remove it, foresail writes it` }];
  });
  const owned = Object.entries(kind.owned).flatMap(([field, instead]): ValidationIssue[] => {
    const path = field.split(".");
    return valueAt(object, path) === undefined
      ? []
      : [{ path, message: `is set by foresail; remove it: ${instead}` }];
  });
  const said = new Set([...identity, ...owned].map(({ path }) => path.join(".")));
  // fields that may not be set at all need no issue about their shape
  const shape = shapeIssues(kind.kind, object).filter(
    ({ path }) => !path.some((_, index) => said.has(path.slice(0, index + 1).join("."))),
  );
  return [...identity, ...owned, ...shape, ...ownTaintIssues(object)];
}

/**
 * Returns an issue when the control planes' taint has its fields in another order: the merge would then add it twice.
 */
function ownTaintIssues(object: Readonly<Record<string, unknown>>): ValidationIssue[] {
  const taints = valueAt(object, ["nodeRegistration", "taints"]);
  if (!Array.isArray(taints)) return [];
  const readable = taints.map((taint: unknown, index) =>
    typeof taint === "object" && taint !== null ? taint : { key: index },
  );
  return taintIssues(readable, "control-plane").map(({ path, message }) => ({
    path: ["nodeRegistration", "taints", ...path],
    message,
  }));
}

function valueAt(object: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, key)
        ? (value as Record<string, unknown>)[key]
        : undefined,
    object,
  );
}
