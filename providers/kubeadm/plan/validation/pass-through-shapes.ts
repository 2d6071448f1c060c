import {
  below,
  issueAt,
  type ConfigurationPath,
  type ValidationIssue,
} from "../../../../lib/validation/validation-issue";
import { quoted } from "../../../../lib/text/quote";
import { nearest } from "../../../../lib/validation/spelling";

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Shapes that one test decides, and what to write instead of another one. */
const SIMPLE = {
  text: [(value: unknown) => typeof value === "string", "a text, in quotes"],
  boolean: [(value: unknown) => typeof value === "boolean", "true or false, without quotes"],
  map: [isMap, "a map"],
  taints: [Array.isArray, "a list of {key, value, effect}; or use the taints of the machine"],
} as const;

/**
 * Shape of a field in a Kubernetes configuration object. `arguments` is a list of {name, value}, `named` a list of
 * objects with a name, `any` is not checked: only fields that foresail merges need a shape.
 */
type Shape =
  | keyof typeof SIMPLE
  | "any"
  | "texts"
  | "map of texts"
  | "map of booleans"
  | "arguments"
  | "named"
  | { readonly [field: string]: Shape };

const COMPONENT = { extraArgs: "arguments", extraVolumes: "named", extraEnvs: "named" } as const;
const NODE_REGISTRATION = {
  name: "text",
  criSocket: "text",
  taints: "taints",
  kubeletExtraArgs: "arguments",
  ignorePreflightErrors: "texts",
  imagePullPolicy: "text",
  imagePullSerial: "boolean",
} as const;
const TIMEOUTS = {
  controlPlaneComponentHealthCheck: "text",
  kubeletHealthCheck: "text",
  kubernetesAPICall: "text",
  etcdAPICall: "text",
  tlsBootstrap: "text",
  discovery: "text",
  upgradeManifests: "text",
} as const;
const PHASES = {
  skipPhases: "texts",
  patches: { directory: "text" },
  timeouts: TIMEOUTS,
  dryRun: "boolean",
} as const;
const RESERVED = "map of texts";

/**
 * Shapes by kind of the fields that foresail merges with its own, and of fields next to them: kubeadm v1beta4
 * (Kubernetes 1.31 to 1.36, kubernetes.io "kubeadm Configuration (v1beta4)"), the maps of KubeletConfiguration v1beta1
 * and KubeProxyConfiguration v1alpha1. Kubernetes itself checks fields that are not listed.
 */
const SHAPES: Readonly<Record<string, Shape>> = {
  ClusterConfiguration: {
    etcd: {
      local: {
        imageRepository: "text",
        imageTag: "text",
        dataDir: "text",
        extraArgs: "arguments",
        extraEnvs: "named",
        serverCertSANs: "texts",
        peerCertSANs: "texts",
      },
      external: {
        endpoints: "texts",
        httpEndpoints: "texts",
        caFile: "text",
        certFile: "text",
        keyFile: "text",
      },
    },
    networking: { serviceSubnet: "text", podSubnet: "text", dnsDomain: "text" },
    kubernetesVersion: "text",
    controlPlaneEndpoint: "text",
    apiServer: { ...COMPONENT, certSANs: "texts" },
    controllerManager: COMPONENT,
    scheduler: COMPONENT,
    dns: { imageRepository: "text", imageTag: "text", disabled: "boolean" },
    proxy: { disabled: "boolean" },
    certificatesDir: "text",
    imageRepository: "text",
    featureGates: "map of booleans",
    clusterName: "text",
    encryptionAlgorithm: "text",
    certificateValidityPeriod: "text",
    caCertificateValidityPeriod: "text",
  },
  InitConfiguration: {
    ...PHASES,
    bootstrapTokens: "any",
    nodeRegistration: NODE_REGISTRATION,
    localAPIEndpoint: "map",
    certificateKey: "text",
  },
  JoinConfiguration: {
    ...PHASES,
    nodeRegistration: NODE_REGISTRATION,
    caCertPath: "text",
    discovery: "map",
    controlPlane: "map",
  },
  KubeletConfiguration: {
    authentication: "map",
    authorization: "map",
    featureGates: "map of booleans",
    evictionHard: RESERVED,
    evictionSoft: RESERVED,
    evictionSoftGracePeriod: RESERVED,
    evictionMinimumReclaim: RESERVED,
    systemReserved: RESERVED,
    kubeReserved: RESERVED,
    qosReserved: RESERVED,
    cgroupDriver: "text",
    clusterDNS: "texts",
    staticPodPath: "text",
    clusterDomain: "text",
    resolvConf: "text",
  },
  KubeProxyConfiguration: {
    featureGates: "map of booleans",
    clientConnection: "map",
    iptables: "map",
    ipvs: "map",
    nftables: "map",
    conntrack: "map",
    mode: "text",
    bindAddress: "text",
  },
};

/** Kinds whose fields are all listed, so that a misspelled field is found; the other kinds have hundreds of fields. */
const KNOWN_WHOLE = ["ClusterConfiguration", "InitConfiguration", "JoinConfiguration"];

const kindOf = (value: unknown) =>
  Array.isArray(value) ? "a list" : isMap(value) ? "a map" : `a ${typeof value}`;

/**
 * Returns an issue for each null, and for each field whose shape a merge would not keep; paths are relative to the
 * object.
 */
export function shapeIssues(kind: string, object: Readonly<Record<string, unknown>>): ValidationIssue[] {
  const shape = SHAPES[kind] ?? "any";
  return [...nullIssues(object, []), ...issuesOf(object, shape, [], KNOWN_WHOLE.includes(kind))];
}

function nullIssues(value: unknown, path: ConfigurationPath): ValidationIssue[] {
  if (value === null)
    return issueAt(path, "is empty, which would remove what is set there; write a value, or remove the line");
  if (Array.isArray(value)) return value.flatMap((one, index) => nullIssues(one, [...path, index]));
  return isMap(value) ? Object.entries(value).flatMap(([key, one]) => nullIssues(one, [...path, key])) : [];
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
  const entries = (each: "text" | "boolean") =>
    isMap(value)
      ? Object.entries(value).flatMap(([key, one]) => issuesOf(one, each, [...path, key], isWhole))
      : wrong("a map");
  if (typeof shape === "object") {
    if (!isMap(value)) return wrong(`a map with the fields ${Object.keys(shape).join(", ")}`);
    return Object.entries(value).flatMap(([key, one]) => {
      const known = Object.hasOwn(shape, key) ? shape[key] : undefined;
      if (known !== undefined) return issuesOf(one, known, [...path, key], isWhole);
      const meant = isWhole ? nearest(key, Object.keys(shape)) : undefined;
      return issueAt([...path, key], meant && `is not known; did you mean ${quoted(meant)}?`);
    });
  }
  switch (shape) {
    case "map of texts":
      return entries("text");
    case "map of booleans":
      return entries("boolean");
    case "texts":
      return Array.isArray(value)
        ? value.flatMap((one, index) => issuesOf(one, "text", [...path, index], isWhole))
        : wrong("a list of texts");
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

/**
 * Checks that each entry has a name of its own: entries are merged by name, so a repeated one would replace the first.
 */
function namedIssues(value: unknown, path: ConfigurationPath, wanted: string): ValidationIssue[] {
  if (!Array.isArray(value)) {
    const since = isMap(value) ? ", as kubeadm's older v1beta3 had it" : "";
    return [{ path, message: `is ${kindOf(value)}${since}; write ${wanted}` }];
  }
  const names = new Set<string>();
  return value.flatMap((one: unknown, index): ValidationIssue[] => {
    if (one === null) return [];
    if (!isMap(one)) return [{ path: [...path, index], message: `is ${kindOf(one)}; write {name: …}` }];
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
    if (!isMap(one)) return [];
    const { name, value: text, ...others } = one;
    const hasDash = typeof name === "string" && name.startsWith("-");
    const issues = [
      ...issueAt(
        ["name"],
        hasDash ? `${quoted(name)} begins with a dash; write the name without it` : undefined,
      ),
      ...Object.keys(others).flatMap((field) =>
        issueAt([field], "is not known; an argument has name and value"),
      ),
    ];
    if (text === undefined) issues.push({ path: ["value"], message: "is missing; write a text" });
    else if (typeof text !== "string" && text !== null)
      issues.push({ path: ["value"], message: `is ${kindOf(text)}; put it in quotes` });
    return below([...path, index], issues);
  });
  return [...found, ...fields];
}
