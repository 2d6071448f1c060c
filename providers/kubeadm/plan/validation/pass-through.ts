import { below, issueAt, valueAt } from "../../../../lib/validation/validation-issue";
import type { ConfigurationPath, ValidationIssue } from "../../../../lib/validation/validation-issue";
import { isObject } from "../../../../lib/json";
import { quoted } from "../../../../lib/text/quote";
import { certificateNameIssue } from "../../../../lib/validation/addresses";
import { nearest } from "../../../../lib/validation/spelling";
import { taintIssues } from "./machines";

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

/** Returns all issues of an object that is passed through; paths are relative to it. */
export function passThroughIssues(
  { apiVersion, kind, owned, unsupported = {} }: PassThroughKind,
  object: Readonly<Record<string, unknown>>,
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
    ...issuesOf(object, SHAPES[kind] ?? "any", [], KNOWN_WHOLE.includes(kind)),
  ].filter(({ path }) => !path.some((_, index) => said.has(path.slice(0, index + 1).join("."))));
  return [...set, ...shape, ...ownTaintIssues(object)];
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

/** Shapes that one test decides, and what to write instead of another one. */
const SIMPLE = {
  text: [(value: unknown) => typeof value === "string", "a text, in quotes"],
  boolean: [(value: unknown) => typeof value === "boolean", "true or false, without quotes"],
  map: [isObject, "a map"],
  taints: [Array.isArray, "a list of {key, value, effect}; or use the taints of the machine"],
} as const;

/**
 * Shape of a field in a Kubernetes configuration object. `arguments` is a list of {name, value}, `named` a list of
 * objects with a name, `name` one in a certificate, `any` is not checked: only fields that foresail merges need a shape.
 */
type Shape =
  | (
      | keyof typeof SIMPLE
      | "any"
      | "texts"
      | "name"
      | "names"
      | "map of texts"
      | "map of booleans"
      | "arguments"
      | "named"
    )
  | { readonly [field: string]: Shape };

/** Returns fields of the same shape. */
const each = (shape: Shape, ...names: string[]): Record<string, Shape> =>
  Object.fromEntries(names.map((name) => [name, shape]));

const COMPONENT = { extraArgs: "arguments", ...each("named", "extraVolumes", "extraEnvs") } as const;
const COMMON = {
  skipPhases: "texts",
  patches: { directory: "text" },
  timeouts: {
    ...each("text", "controlPlaneComponentHealthCheck", "kubeletHealthCheck", "kubernetesAPICall"),
    ...each("text", "etcdAPICall", "tlsBootstrap", "discovery", "upgradeManifests"),
  },
  dryRun: "boolean",
  nodeRegistration: {
    ...each("text", "name", "criSocket"),
    taints: "taints",
    kubeletExtraArgs: "arguments",
    ignorePreflightErrors: "texts",
    imagePullPolicy: "text",
    imagePullSerial: "boolean",
  },
} as const;

/**
 * Shapes by kind of the fields that foresail merges with its own, and of fields next to them: kubeadm v1beta4
 * (Kubernetes 1.31 to 1.36, kubernetes.io "kubeadm Configuration (v1beta4)"), the maps of KubeletConfiguration v1beta1
 * and KubeProxyConfiguration v1alpha1. Kubernetes itself checks fields that are not listed.
 */
const SHAPES: Readonly<Record<string, Shape>> = {
  ClusterConfiguration: {
    etcd: {
      local: {
        ...each("text", "imageRepository", "imageTag", "dataDir"),
        extraArgs: "arguments",
        extraEnvs: "named",
        ...each("texts", "serverCertSANs", "peerCertSANs"),
      },
      external: "any",
    },
    networking: each("text", "serviceSubnet", "podSubnet", "dnsDomain"),
    ...each("text", "kubernetesVersion", "controlPlaneEndpoint"),
    apiServer: { ...COMPONENT, certSANs: "names" },
    ...each(COMPONENT, "controllerManager", "scheduler"),
    dns: { ...each("text", "imageRepository", "imageTag"), disabled: "boolean" },
    proxy: { disabled: "boolean" },
    featureGates: "map of booleans",
    ...each("text", "certificatesDir", "imageRepository", "clusterName", "encryptionAlgorithm"),
    ...each("text", "certificateValidityPeriod", "caCertificateValidityPeriod"),
  },
  InitConfiguration: { ...COMMON, bootstrapTokens: "any", localAPIEndpoint: "map", certificateKey: "text" },
  JoinConfiguration: { ...COMMON, caCertPath: "text", ...each("map", "discovery", "controlPlane") },
  KubeletConfiguration: {
    ...each("map", "authentication", "authorization"),
    featureGates: "map of booleans",
    ...each("map of texts", "evictionHard", "evictionSoft", "evictionSoftGracePeriod"),
    ...each("map of texts", "evictionMinimumReclaim", "systemReserved", "kubeReserved", "qosReserved"),
    clusterDNS: "texts",
    ...each("text", "cgroupDriver", "staticPodPath", "clusterDomain", "resolvConf"),
  },
  KubeProxyConfiguration: {
    featureGates: "map of booleans",
    ...each("map", "clientConnection", "iptables", "ipvs", "nftables", "conntrack"),
    ...each("text", "mode", "bindAddress"),
  },
};

/** Kinds whose fields are all listed, so that a misspelled field is found; the other kinds have hundreds of fields. */
const KNOWN_WHOLE = ["ClusterConfiguration", "InitConfiguration", "JoinConfiguration"];

const kindOf = (value: unknown) =>
  Array.isArray(value) ? "a list" : isObject(value) ? "a map" : `a ${typeof value}`;

function nullIssues(value: unknown, path: ConfigurationPath): ValidationIssue[] {
  if (value === null)
    return issueAt(path, "is empty, which would remove what is set there; write a value, or remove the line");
  if (Array.isArray(value)) return value.flatMap((one, index) => nullIssues(one, [...path, index]));
  return isObject(value)
    ? Object.entries(value).flatMap(([key, one]) => nullIssues(one, [...path, key]))
    : [];
}

function issuesOf(
  value: unknown,
  shape: Shape,
  path: ConfigurationPath,
  isWhole: boolean,
): ValidationIssue[] {
  // null has its own issue
  if (value === null || value === undefined || shape === "any") return [];
  const wrong = (wanted: string) => [{ path, message: `is ${kindOf(value)}; write ${wanted}` }];
  if (typeof shape === "object") {
    if (!isObject(value)) return wrong(`a map with the fields ${Object.keys(shape).join(", ")}`);
    return Object.entries(value).flatMap(([key, one]) => {
      const known = Object.hasOwn(shape, key) ? shape[key] : undefined;
      if (known !== undefined) return issuesOf(one, known, [...path, key], isWhole);
      const meant = isWhole ? nearest(key, Object.keys(shape)) : undefined;
      return issueAt([...path, key], meant && `is not known; did you mean ${quoted(meant)}?`);
    });
  }
  switch (shape) {
    case "map of texts":
    case "map of booleans": {
      if (!isObject(value)) return wrong("a map");
      const fields = each(shape === "map of texts" ? "text" : "boolean", ...Object.keys(value));
      return issuesOf(value, fields, path, isWhole);
    }
    case "name":
      return typeof value === "string"
        ? issueAt(path, certificateNameIssue(value))
        : wrong("a text, in quotes");
    case "names":
    case "texts": {
      if (!Array.isArray(value)) return wrong("a list of texts");
      const item = shape === "names" ? "name" : "text";
      return value.flatMap((one, index) => issuesOf(one, item, [...path, index], isWhole));
    }
    case "arguments":
      return argumentIssues(value, path);
    case "named":
      return namedIssues(value, path, 'a list of {name: …} entries, e.g. [{name: "audit", …}]');
    case "text":
    case "boolean":
    case "map":
    case "taints":
      return SIMPLE[shape][0](value) ? [] : wrong(SIMPLE[shape][1]);
  }
}

/** Checks that each entry has its own name: entries are merged by name, so a repeated one replaces the first. */
function namedIssues(value: unknown, path: ConfigurationPath, wanted: string): ValidationIssue[] {
  if (!Array.isArray(value)) {
    const since = isObject(value) ? ", as kubeadm's older v1beta3 had it" : "";
    return [{ path, message: `is ${kindOf(value)}${since}; write ${wanted}` }];
  }
  const names = new Set<string>();
  return value.flatMap((one: unknown, index): ValidationIssue[] => {
    if (one === null) return [];
    if (!isObject(one)) return [{ path: [...path, index], message: `is ${kindOf(one)}; write {name: …}` }];
    const { name } = one;
    const at = [...path, index, "name"];
    if (typeof name !== "string" || name === "") return [{ path: at, message: "is missing; write a text" }];
    if (names.has(name)) return [{ path: at, message: `${quoted(name)} is listed twice; remove one` }];
    names.add(name);
    return [];
  });
}

function argumentIssues(value: unknown, path: ConfigurationPath): ValidationIssue[] {
  const found = namedIssues(value, path, 'a list of {name, value}, e.g. [{name: "v", value: "4"}]');
  if (!Array.isArray(value)) return found;
  const fields = value.flatMap((one: unknown, index): ValidationIssue[] => {
    if (!isObject(one)) return [];
    const { name, value: text, ...others } = one;
    const dashed = typeof name === "string" && name.startsWith("-") ? name : undefined;
    const isText = text === null || typeof text === "string";
    const wrong = text === undefined ? "is missing; write a text" : `is ${kindOf(text)}; put it in quotes`;
    return below(
      [...path, index],
      [
        ...issueAt(["name"], dashed && `${quoted(dashed)} begins with a dash; write the name without it`),
        ...Object.keys(others).flatMap((field) =>
          issueAt([field], "is not known; an argument has name and value"),
        ),
        ...issueAt(["value"], isText ? undefined : wrong),
      ],
    );
  });
  return [...found, ...fields];
}
