import { isObject } from "../../../../lib/json";
import { parseQuantity } from "../../../../lib/kubernetes/quantity";
import { unknownWord } from "../../../../lib/validation/spelling";
import { quoted } from "../../../../lib/text/quote";
import { parseDuration } from "./field-values";
import { kubeletPairIssues } from "./kubelet-pairs";
import { reservedMemoryIssues } from "./reserved-memory";
import { ipVersion } from "../../../../lib/validation/addresses";
import { issueAt, type ValidationIssue, valueAt } from "../../../../lib/validation/validation-issue";

/** Limits of whole numbers, as every supported kubelet has them (pkg/kubelet/apis/config/validation). */
const RANGES: Readonly<Record<string, readonly [number, number]>> = {
  eventBurst: [0, Infinity],
  eventRecordQPS: [0, Infinity],
  healthzPort: [0, 65535],
  imageGCHighThresholdPercent: [0, 100],
  imageGCLowThresholdPercent: [0, 100],
  iptablesDropBit: [0, 31],
  iptablesMasqueradeBit: [0, 31],
  kubeAPIBurst: [0, Infinity],
  kubeAPIQPS: [0, Infinity],
  maxOpenFiles: [0, Infinity],
  maxParallelImagePulls: [1, Infinity],
  maxPods: [0, Infinity],
  // one file is the current log
  containerLogMaxFiles: [2, Infinity],
  containerLogMaxWorkers: [1, Infinity],
  nodeLeaseDurationSeconds: [0, Infinity],
  nodeStatusMaxImages: [-1, Infinity],
  oomScoreAdj: [-1000, 1000],
  port: [1, 65535],
  podsPerCore: [0, Infinity],
  readOnlyPort: [0, 65535],
  registryBurst: [0, Infinity],
  registryPullQPS: [0, Infinity],
};

/** What a kubelet can reserve (cmd/kubelet/app, parseResourceList). */
const RESERVABLE = ["cpu", "memory", "ephemeral-storage", "pid"];
/** What a kubelet evicts pods for (pkg/kubelet/eviction/api). */
const SIGNALS = [
  ...["memory.available", "nodefs.available", "nodefs.inodesFree", "imagefs.available", "imagefs.inodesFree"],
  ...["containerfs.available", "containerfs.inodesFree", "allocatableMemory.available", "pid.available"],
];
/** The defaults of the kubelet, which ends at its start unless the lower one is less than the other. */
const IMAGE_GC = { imageGCHighThresholdPercent: 85, imageGCLowThresholdPercent: 80 };

const textsOf = (value: unknown): [string, string][] =>
  isObject(value)
    ? Object.entries(value).flatMap(([key, text]) => (typeof text === "string" ? [[key, text]] : []))
    : [];

function quantityIssue(text: string): string | undefined {
  const value = parseQuantity(text);
  if (value === undefined) return `${quoted(text)} is not a quantity; write e.g. "500m" or "1Gi"`;
  return value < 0 ? `${quoted(text)} is negative; write e.g. "500m" or "1Gi"` : undefined;
}

const reservationIssues = (kubelet: object, field: string): ValidationIssue[] =>
  textsOf(kubelet[field as keyof object]).flatMap(([resource, text]) =>
    issueAt(
      [field, resource],
      RESERVABLE.includes(resource) ? quantityIssue(text) : unknownWord(resource, RESERVABLE),
    ),
  );

/** As the kubelet reads it. */
const PERCENT = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?%+$/;

/** Returns why a kubelet refuses a limit of evictions, such as "100Mi" or "10%". */
function limitIssue(text: string): string | undefined {
  if (!text.endsWith("%")) {
    const issue = quantityIssue(text);
    return (
      issue ?? (parseQuantity(text) === 0 ? `${quoted(text)} is zero; write "0%" for no limit` : undefined)
    );
  }
  const percent = PERCENT.test(text) ? Number.parseFloat(text) : NaN;
  return percent >= 0 && percent <= 100 ? undefined : `${quoted(text)} is not from "0%" to "100%"`;
}

function evictionIssues(kubelet: object): ValidationIssue[] {
  const { evictionHard, evictionSoft, evictionSoftGracePeriod, evictionMinimumReclaim } = kubelet as Record<
    string,
    unknown
  >;
  const limits = Object.entries({ evictionHard, evictionSoft }).flatMap(([field, value]) =>
    textsOf(value).flatMap(([signal, text]) =>
      issueAt([field, signal], SIGNALS.includes(signal) ? limitIssue(text) : unknownWord(signal, SIGNALS)),
    ),
  );
  const others = Object.entries({ evictionSoftGracePeriod, evictionMinimumReclaim }).flatMap(
    ([field, value]) =>
      textsOf(value).flatMap(([signal]) =>
        issueAt([field, signal], SIGNALS.includes(signal) ? undefined : unknownWord(signal, SIGNALS)),
      ),
  );
  return [...limits, ...others];
}

/** Returns an issue for each soft limit without a grace period. A limit of nothing or of everything needs none. */
function gracePeriodIssues(kubelet: object): ValidationIssue[] {
  const { evictionSoft, evictionSoftGracePeriod } = kubelet as Record<string, unknown>;
  const periods = new Set(textsOf(evictionSoftGracePeriod).map(([signal]) => signal));
  return textsOf(evictionSoft)
    .filter(
      ([signal, limit]) =>
        SIGNALS.includes(signal) && limit !== "0%" && limit !== "100%" && !periods.has(signal),
    )
    .flatMap(([signal]) =>
      issueAt(["evictionSoftGracePeriod", signal], 'is missing, and evictionSoft has it; write e.g. "1m30s"'),
    );
}

/** Tells whether a text is a list of CPUs, such as "0-3,8". */
const isCpuList = (text: string): boolean =>
  text.split(",").every((part) => {
    const [, first, last = first] = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(part) ?? [];
    return first !== undefined && Number(first) <= Number(last);
  });

/** The static policy needs CPUs of its own for the system. */
function reservedCpuIssues(kubelet: object): ValidationIssue[] {
  const { cpuManagerPolicy, reservedSystemCPUs = "" } = kubelet as Record<string, unknown>;
  if (typeof reservedSystemCPUs === "string" && reservedSystemCPUs !== "" && !isCpuList(reservedSystemCPUs))
    return issueAt(
      ["reservedSystemCPUs"],
      `${quoted(reservedSystemCPUs)} is not a list of CPUs; write e.g. "0-3,8"`,
    );
  if (cpuManagerPolicy !== "static" || reservedSystemCPUs !== "") return [];
  const isReserved = ["systemReserved", "kubeReserved"].some((field) =>
    textsOf(kubelet[field as keyof object]).some(
      ([resource, text]) => resource === "cpu" && (parseQuantity(text) ?? 0) > 0,
    ),
  );
  return issueAt(
    ["cpuManagerPolicy"],
    isReserved
      ? undefined
      : '"static" needs CPUs that are reserved; write reservedSystemCPUs, or cpu under kubeReserved or systemReserved',
  );
}

/** Returns an issue for each reservation that is enforced on a control group that is not named. */
function enforcementIssues(kubelet: object): ValidationIssue[] {
  const { enforceNodeAllocatable } = kubelet as Record<string, unknown>;
  const enforced = Array.isArray(enforceNodeAllocatable) ? (enforceNodeAllocatable as unknown[]) : [];
  return ["system", "kube"].flatMap((who) => {
    const field = `${who}ReservedCgroup`;
    const isEnforced = [`${who}-reserved`, `${who}-reserved-compressible`].some((each) =>
      enforced.includes(each),
    );
    const { [field]: group = "" } = kubelet as Record<string, unknown>;
    return issueAt(
      [field],
      isEnforced && group === ""
        ? `is missing, and enforceNodeAllocatable has ${who}-reserved; write the control group, which must exist on each machine`
        : undefined,
    );
  });
}

/** Pods that are critical end within the time of all. */
function shutdownIssues(kubelet: object): ValidationIssue[] {
  const { shutdownGracePeriod = "0s", shutdownGracePeriodCriticalPods = "0s" } = kubelet as Record<
    string,
    unknown
  >;
  const [all, critical] = [shutdownGracePeriod, shutdownGracePeriodCriticalPods].map((text) =>
    typeof text === "string" ? parseDuration(text) : undefined,
  );
  return issueAt(
    ["shutdownGracePeriodCriticalPods"],
    all !== undefined && critical !== undefined && critical > all
      ? "is longer than shutdownGracePeriod, of which it is a part; write a shorter one"
      : undefined,
  );
}

function imageIssues(kubelet: object): ValidationIssue[] {
  const { imageGCHighThresholdPercent: high, imageGCLowThresholdPercent: low } = { ...IMAGE_GC, ...kubelet };
  if (!Number.isInteger(high) || !Number.isInteger(low) || low < high) return [];
  const field =
    "imageGCLowThresholdPercent" in kubelet ? "imageGCLowThresholdPercent" : "imageGCHighThresholdPercent";
  return issueAt(
    [field],
    `imageGCLowThresholdPercent ${low} must be less than imageGCHighThresholdPercent ${high}`,
  );
}

/** How a user namespace of a pod is sized. */
const NAMESPACE_UNIT = 65_536;
/** Of a container that ends again and again, in seconds. */
const RESTART_PERIOD = [1, 300] as const;
const SYSCTL = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*([a-z0-9][-_a-z0-9]*)?[a-z0-9*]$/;

/** Issues of single fields, each with a rule of its own. */
function ownRuleIssues(kubelet: object): ValidationIssue[] {
  const at = (...path: string[]) => valueAt(kubelet, path);
  const texts = (field: string) => {
    const list = at(field);
    return (Array.isArray(list) ? (list as unknown[]) : []).filter((one) => typeof one === "string");
  };
  const size = at("userNamespaces", "idsPerPod");
  const period = at("crashLoopBackOff", "maxContainerRestartPeriod");
  const restart = typeof period === "string" ? parseDuration(period) : undefined;
  const [least, most] = RESTART_PERIOD;
  const { maxParallelImagePulls: pulls, serializeImagePulls: serial } = kubelet as Record<string, unknown>;
  return [
    ...texts("clusterDNS").flatMap((text, index) =>
      issueAt(
        ["clusterDNS", index],
        // a text that nothing takes has its own rule
        ipVersion(text) === 0 && !text.includes("\0") && Buffer.from(text).toString() === text
          ? `${quoted(text)} is not an address; write e.g. "10.96.0.10"`
          : undefined,
      ),
    ),
    ...texts("allowedUnsafeSysctls").flatMap((text, index) =>
      issueAt(
        ["allowedUnsafeSysctls", index],
        SYSCTL.test(text) ? undefined : `${quoted(text)} is not a sysctl; write e.g. "net.core.*"`,
      ),
    ),
    ...issueAt(
      ["userNamespaces", "idsPerPod"],
      typeof size === "number" && (size < NAMESPACE_UNIT || size % NAMESPACE_UNIT !== 0)
        ? `${size} is not a multiple of ${NAMESPACE_UNIT}`
        : undefined,
    ),
    ...issueAt(
      ["crashLoopBackOff", "maxContainerRestartPeriod"],
      restart !== undefined && (restart < least || restart > most)
        ? `${quoted(String(period))} is not from "${least}s" to "${most}s"`
        : undefined,
    ),
    ...issueAt(
      ["maxParallelImagePulls"],
      typeof pulls === "number" && pulls > 1 && serial === true
        ? "needs serializeImagePulls: false, which is true; remove one"
        : undefined,
    ),
  ];
}

/**
 * Returns the issues of values for which every supported kubelet ends at its start. Paths are relative to the kubelet's
 * configuration; fields of another type have their own rule.
 *
 * @param isWhole whether the kubelet has nothing else but defaults, so that its fields can be compared with each other
 */
export function kubeletValueIssues(kubelet: unknown, isWhole: boolean): ValidationIssue[] {
  if (!isObject(kubelet)) return [];
  const ranges = Object.entries(RANGES).flatMap(([field, [least, most]]) => {
    const value = kubelet[field];
    if (typeof value !== "number" || (value >= least && value <= most)) return [];
    const range = most === Infinity ? `${least} or more` : `from ${least} to ${most}`;
    return issueAt([field], `${value} is not allowed; write a number, ${range}`);
  });
  return [
    ...ranges,
    ...ownRuleIssues(kubelet),
    ...["systemReserved", "kubeReserved"].flatMap((field) => reservationIssues(kubelet, field)),
    ...evictionIssues(kubelet),
    ...(typeof kubelet["containerLogMaxSize"] === "string"
      ? issueAt(["containerLogMaxSize"], quantityIssue(kubelet["containerLogMaxSize"]))
      : []),
    ...(isWhole
      ? [
          ...gracePeriodIssues(kubelet),
          ...imageIssues(kubelet),
          ...reservedCpuIssues(kubelet),
          ...enforcementIssues(kubelet),
          ...shutdownIssues(kubelet),
          ...kubeletPairIssues(kubelet),
          ...reservedMemoryIssues(kubelet),
        ]
      : []),
  ];
}
