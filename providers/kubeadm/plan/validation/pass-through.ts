import { below, issueAt, valueAt } from "../../../../lib/validation/validation-issue";
import type { ConfigurationPath, ValidationIssue } from "../../../../lib/validation/validation-issue";
import { isObject, ownValue } from "../../../../lib/json";
import { unknownWord } from "../../../../lib/validation/spelling";
import { textValueIssues } from "./field-values";
import { fieldsOf } from "./known-fields";
import { taintIssues } from "./machines";
import { nullIssues, shapeIssues } from "./shapes";

/** A Kubernetes configuration object that is merged into foresail's own. */
interface PassThroughKind {
  apiVersion: string;
  kind: string;
  /** Dotted fields that foresail sets itself → the configuration to use instead, or why there is none. */
  owned: Readonly<Record<string, string>>;
  /** Dotted fields that foresail's steps can't work with → why, and what to do. */
  unsupported?: Readonly<Record<string, string>>;
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
    unsupported: {
      "etcd.external":
        "foresail runs etcd on the control planes, and checks its members when they join and leave; remove it, and put settings of etcd under etcd.local",
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

/** Fields of kubeadm's earlier versions by kind, and what there is instead. */
const EARLIER: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ClusterConfiguration: {
    "apiServer.timeoutForControlPlane":
      "is timeouts.controlPlaneComponentHealthCheck of initConfiguration and joinConfiguration in v1beta4; write it there",
    "dns.type": "is not in v1beta4, where CoreDNS is the only one; remove it",
    useHyperKubeImage: "is not in v1beta4; remove it",
  },
};

/**
 * Returns all issues of an object that is passed through; paths are relative to it.
 *
 * @param version of Kubernetes, whose fields and arguments are known. @default those of every supported version
 */
export function passThroughIssues(
  { apiVersion, kind, owned, unsupported = {} }: PassThroughKind,
  object: Readonly<Record<string, unknown>>,
  version?: string,
): ValidationIssue[] {
  const set = [
    ...Object.entries({ apiVersion, kind }).flatMap(([field, own]) =>
      [undefined, own].includes(object[field] as string | undefined)
        ? []
        : issueAt([field], `must be "${own}"; remove it, foresail writes it`),
    ),
    ...fieldIssues(object, owned, "is set by foresail; remove it"),
    ...fieldIssues(object, unsupported, "is not supported"),
  ];
  const said = new Set(set.map(({ path }) => path.join(".")));
  // fields that may not be set at all need no issue about their shape
  const shape = [
    ...nullIssues(object, []),
    ...shapeIssues(object, fieldsOf(version).kinds[kind] ?? "any", {
      version,
      unknownField: (path, known) => unknownField(kind, path, known, version),
    }),
    ...textValueIssues(kind, object),
  ].filter(({ path }) => !path.some((_, index) => said.has(path.slice(0, index + 1).join("."))));
  return [...set, ...shape, ...ownTaintIssues(object)];
}

/** Returns the issues that an object has with one version of Kubernetes only, not with every supported one. */
export function versionIssues(
  kind: PassThroughKind,
  object: Readonly<Record<string, unknown>>,
  version: string,
): ValidationIssue[] {
  const always = new Set(passThroughIssues(kind, object).map(({ path }) => path.join(".")));
  return passThroughIssues(kind, object, version).filter(({ path }) => !always.has(path.join(".")));
}

/** Returns the message for a field that a kind does not have. */
function unknownField(
  kind: string,
  path: ConfigurationPath,
  known: readonly string[],
  version: string | undefined,
): string {
  const earlier = ownValue(EARLIER[kind] ?? {}, path.join("."));
  if (earlier !== undefined) return earlier;
  const field = String(path.at(-1));
  if (version !== undefined) {
    const parent = valueAt(fieldsOf().kinds[kind] ?? {}, path.slice(0, -1));
    if (isObject(parent) && Object.hasOwn(parent, field))
      return `is not a field of Kubernetes ${version}, only of other versions; remove it`;
  }
  const others = Object.entries(PASS_THROUGH).filter(
    ([, other]) => path.length === 1 && Object.hasOwn(fieldsOf(version).kinds[other.kind] ?? {}, field),
  );
  if (others.length === 0) return unknownWord(field, known);
  const places = others.map(([name]) => (name.endsWith("Configuration") ? `kubeadm.${name}` : name));
  return `is not known here; it is a field of ${places.map((name) => `cluster.${name}`).join(" and ")}`;
}

/** Returns an issue for each of these dotted fields that an object has. */
function fieldIssues(
  object: Readonly<Record<string, unknown>>,
  fields: Readonly<Record<string, string>>,
  what: string,
): ValidationIssue[] {
  return Object.entries(fields).flatMap(([field, why]) => {
    const path = field.split(".");
    return issueAt(path, valueAt(object, path) === undefined ? undefined : `${what}: ${why}`);
  });
}

/** Returns an issue for the control planes' own taint: with another order of fields, the merge would add it twice. */
function ownTaintIssues(object: Readonly<Record<string, unknown>>): ValidationIssue[] {
  const path = ["nodeRegistration", "taints"];
  const taints = valueAt(object, path);
  if (!Array.isArray(taints)) return [];
  const readable = taints.map((taint: unknown, index) => (isObject(taint) ? taint : { key: index }));
  return below(path, taintIssues(readable, "control-plane"));
}
