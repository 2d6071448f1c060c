import { isObject, ownValue } from "../../../../lib/json";
import { quoted } from "../../../../lib/text/quote";
import { ipVersion } from "../../../../lib/validation/addresses";
import { unknownWord } from "../../../../lib/validation/spelling";
import {
  type ConfigurationPath,
  issueAt,
  type ValidationIssue,
} from "../../../../lib/validation/validation-issue";

/** Fields whose text is a duration, of every kind (metav1.Duration of the Go types of 1.31 to 1.36). */
const DURATIONS = new Set([
  ...["syncFrequency", "fileCheckFrequency", "httpCheckFrequency", "streamingConnectionIdleTimeout"],
  ...["nodeStatusUpdateFrequency", "nodeStatusReportFrequency", "imageMinimumGCAge", "imageMaximumGCAge"],
  ...["volumeStatsAggPeriod", "cpuManagerReconcilePeriod", "runtimeRequestTimeout", "cpuCFSQuotaPeriod"],
  ...["evictionPressureTransitionPeriod", "containerLogMonitorInterval", "maxContainerRestartPeriod"],
  ...["shutdownGracePeriod", "shutdownGracePeriodCriticalPods", "cacheTTL"],
  ...["cacheAuthorizedTTL", "cacheUnauthorizedTTL"],
  ...["syncPeriod", "minSyncPeriod", "configSyncPeriod", "tcpTimeout", "tcpFinTimeout", "udpTimeout"],
  ...["tcpEstablishedTimeout", "tcpCloseWaitTimeout", "udpStreamTimeout"],
  ...["certificateValidityPeriod", "caCertificateValidityPeriod", "controlPlaneComponentHealthCheck"],
  ...["kubeletHealthCheck", "kubernetesAPICall", "etcdAPICall", "tlsBootstrap", "discovery"],
  "upgradeManifests",
]);

const UNITS: Readonly<Record<string, number>> = {
  h: 3600,
  m: 60,
  s: 1,
  ms: 1e-3,
  us: 1e-6,
  µs: 1e-6,
  μs: 1e-6,
  ns: 1e-9,
};
/** Go reads "µs" with either letter, U+00B5 and U+03BC. */
const PART = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g;

/** Returns a duration in seconds, as Go reads it ("1m30s"); undefined for another text. */
export function parseDuration(text: string): number | undefined {
  if (/^[+-]?0$/.test(text)) return 0;
  if (!/^[+-]?((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+$/.test(text)) return undefined;
  const seconds = [...text.matchAll(PART)].reduce(
    (sum, [, count, unit = ""]) => sum + Number(count) * (UNITS[unit] ?? 0),
    0,
  );
  return text.startsWith("-") ? -seconds : seconds;
}

/** Returns the issue of a text at a path, if its field is a duration, or undefined. */
function durationIssue(path: ConfigurationPath, text: string): string | undefined {
  const [field, parent] = [path.at(-1), path.at(-2)];
  if (!DURATIONS.has(String(field)) && parent !== "evictionSoftGracePeriod") return undefined;
  return parseDuration(text) === undefined
    ? `${quoted(text)} is not a duration; write e.g. "90s", "1m30s" or "8760h"`
    : undefined;
}

/** Types of a hostPath volume. */
const PATH_TYPES = [
  ...["DirectoryOrCreate", "Directory", "FileOrCreate", "File"],
  ...["Socket", "CharDevice", "BlockDevice"],
];
const LOG_FORMATS = ["text", "json"];
/** Something for each field, by its path in the object; "*" is each item of a list. */
type ByField<Value> = Readonly<Record<string, Value>>;

const fieldOf = (path: ConfigurationPath) =>
  path.map((part) => (typeof part === "number" ? "*" : part)).join(".");

const PER_MACHINE = "belongs to one machine, and this is for all of them; remove it";
const NODE_REGISTRATION = {
  "nodeRegistration.imagePullPolicy": ["Always", "IfNotPresent", "Never"],
  "nodeRegistration.taints.*.effect": ["NoSchedule", "PreferNoSchedule", "NoExecute"],
};
/** Modules of the kernel for IPVS. */
const IPVS = ["rr", "wrr", "lc", "wlc", "fo", "ovf", "lblc", "lblcr", "sh", "mh", "dh", "sed", "nq", "twos"];

/** Texts that a field may have, or why it may have none; "" is as good as absent. */
const WORDS: Readonly<Record<string, ByField<readonly string[] | string>>> = {
  ClusterConfiguration: {
    encryptionAlgorithm: ["RSA-2048", "RSA-3072", "RSA-4096", "ECDSA-P256", "ECDSA-P384"],
    ...Object.fromEntries(
      ["apiServer", "controllerManager", "scheduler"].map((name) => [
        `${name}.extraVolumes.*.pathType`,
        PATH_TYPES,
      ]),
    ),
  },
  InitConfiguration: {
    ...NODE_REGISTRATION,
    "skipPhases.*": [
      ...["preflight", "certs", "kubeconfig", "etcd", "etcd/local"],
      ...["control-plane", "control-plane/apiserver", "control-plane/controller-manager"],
      ...["control-plane/scheduler", "kubelet-start", "wait-control-plane"],
      ...["upload-config", "upload-config/kubeadm", "upload-config/kubelet", "upload-certs"],
      ...["mark-control-plane", "bootstrap-token", "kubelet-finalize"],
      ...["addon", "addon/coredns", "addon/kube-proxy", "show-join-command"],
    ],
  },
  JoinConfiguration: NODE_REGISTRATION,
  KubeletConfiguration: {
    "logging.format": LOG_FORMATS,
    "authorization.mode": ["Webhook", "AlwaysAllow"],
    cgroupDriver: ["systemd", "cgroupfs"],
    "memorySwap.swapBehavior": ["NoSwap", "LimitedSwap"],
    memoryManagerPolicy: ["None", "Static"],
    imagePullCredentialsVerificationPolicy: [
      ...["NeverVerify", "NeverVerifyPreloadedImages", "NeverVerifyAllowlistedImages", "AlwaysVerify"],
    ],
    cpuManagerPolicy: ["none", "static"],
    hairpinMode: ["promiscuous-bridge", "hairpin-veth", "none"],
    topologyManagerPolicy: ["none", "best-effort", "restricted", "single-numa-node"],
    topologyManagerScope: ["container", "pod"],
    configMapAndSecretChangeDetectionStrategy: ["Watch", "Cache", "Get"],
    containerRuntimeEndpoint: [
      "unix:///run/containerd/containerd.sock",
      "unix:///var/run/containerd/containerd.sock",
    ],
    "enforceNodeAllocatable.*": [
      ...["none", "pods", "system-reserved", "kube-reserved"],
      ...["system-reserved-compressible", "kube-reserved-compressible"],
    ],
    providerID: PER_MACHINE,
    podCIDR: PER_MACHINE,
  },
  KubeProxyConfiguration: {
    mode: ["iptables", "ipvs", "nftables"],
    detectLocalMode: ["ClusterCIDR", "NodeCIDR", "BridgeInterface", "InterfaceNamePrefix"],
    "ipvs.scheduler": IPVS,
    "logging.format": LOG_FORMATS,
    "clientConnection.kubeconfig": ["/var/lib/kube-proxy/kubeconfig.conf"],
    hostnameOverride: PER_MACHINE,
  },
};

/** Returns the issue of a text in a field of a kind, which the kind's program would refuse, or undefined. */
function wordIssue(kind: string, field: string, text: string): string | undefined {
  const known = ownValue(WORDS[kind] ?? {}, field);
  if (known === undefined || text === "") return undefined;
  if (typeof known === "string") return known;
  return known.includes(text) ? undefined : `${quoted(text)} ${unknownWord(text, known)}`;
}

/** Blocks and addresses: what is wrong with one, or undefined. */
const ADDRESSES: ByField<(text: string) => string | undefined> = {
  metricsBindAddress: bindAddressIssue,
  healthzBindAddress: bindAddressIssue,
};

/** Returns why a text is not a block of addresses. */
export function blockIssue(text: string): string | undefined {
  const [address = "", prefix = ""] = text.split("/");
  const bits = ipVersion(address) === 6 ? 128 : 32;
  return ipVersion(address) !== 0 && /^\d{1,3}$/.test(prefix) && Number(prefix) <= bits
    ? undefined
    : `${quoted(text)} is not a block; write e.g. "192.0.2.0/24"`;
}

function bindAddressIssue(text: string): string | undefined {
  const [, address = "", port] = /^\[?([\da-fA-F.:]+?)\]?(?::(\d{1,5}))?$/.exec(text) ?? [];
  return text === "" || (ipVersion(address) !== 0 && Number(port ?? 1) <= 65_535)
    ? undefined
    : `${quoted(text)} is not an address; write e.g. "0.0.0.0:10249"`;
}

/** Returns an issue for each text of an object that is not what its program reads: durations, words, paths of volumes. */
export function textValueIssues(
  kind: string,
  object: unknown,
  path: ConfigurationPath = [],
): ValidationIssue[] {
  if (typeof object === "string") {
    const isVolumePath =
      path.at(-3) === "extraVolumes" && ["hostPath", "mountPath"].includes(String(path.at(-1)));
    const isFolder = ["patches.directory", "etcd.local.dataDir"].includes(fieldOf(path)) && object !== "";
    const relative =
      (isVolumePath || isFolder) && !object.startsWith("/")
        ? `${quoted(object)} is not absolute; start it with "/"`
        : undefined;
    const field = fieldOf(path);
    const address = kind === "KubeProxyConfiguration" ? ownValue(ADDRESSES, field)?.(object) : undefined;
    return issueAt(
      path,
      wordIssue(kind, field, object) ?? durationIssue(path, object) ?? relative ?? address,
    );
  }
  if (Array.isArray(object))
    return object.flatMap((one: unknown, index) => textValueIssues(kind, one, [...path, index]));
  if (!isObject(object)) return [];
  return Object.entries(object).flatMap(([key, one]) => textValueIssues(kind, one, [...path, key]));
}
