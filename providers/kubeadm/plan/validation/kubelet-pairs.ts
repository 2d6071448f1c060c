import { quoted } from "../../../../lib/text/quote";
import { issueAt, type ValidationIssue, valueAt } from "../../../../lib/validation/validation-issue";
import { parseDuration } from "./field-values";

/** The kubelet's own age below which it keeps an image, in seconds. */
const YOUNGEST = 120;

/** Seconds of a duration; undefined for another value, which has its own rule. */
const secondsOf = (value: unknown): number | undefined =>
  typeof value === "string" ? parseDuration(value) : undefined;

const isPositive = (value: unknown): boolean => (secondsOf(value) ?? 0) > 0;

const isFilled = (value: unknown): boolean => Array.isArray(value) && value.length > 0;

/** Returns the issue of a duration that is not 0, nor in a range of seconds. */
function rangeIssue(value: unknown, least: number, most: number, words: string): string | undefined {
  const seconds = secondsOf(value);
  return seconds === undefined || (seconds >= least && seconds <= most)
    ? undefined
    : `${quoted(String(value))} is not ${words}`;
}

function periodIssues(kubelet: object): ValidationIssue[] {
  const shutdown = ["shutdownGracePeriod", "shutdownGracePeriodCriticalPods"];
  const at = (field: string) => valueAt(kubelet, [field]);
  return [
    ...shutdown.flatMap((field) =>
      issueAt(
        [field],
        secondsOf(at(field)) === 0
          ? undefined
          : rangeIssue(at(field), 1, Infinity, '"0s", nor "1s" or longer'),
      ),
    ),
    ...issueAt(
      ["shutdownGracePeriodByPodPriority"],
      isFilled(at("shutdownGracePeriodByPodPriority")) && shutdown.some((field) => isPositive(at(field)))
        ? "is there beside shutdownGracePeriod, and the kubelet takes one of them; remove the other"
        : undefined,
    ),
    ...issueAt(
      ["containerLogMonitorInterval"],
      rangeIssue(at("containerLogMonitorInterval"), 3, Infinity, '"3s" or longer'),
    ),
    ...issueAt(["cpuCFSQuotaPeriod"], rangeIssue(at("cpuCFSQuotaPeriod"), 0.001, 1, 'from "1ms" to "1s"')),
  ];
}

/** An image is removed at its largest age, and kept at its smallest. */
function imageAgeIssues(kubelet: object): ValidationIssue[] {
  const [least, most] = ["imageMinimumGCAge", "imageMaximumGCAge"].map((field) =>
    secondsOf(valueAt(kubelet, [field])),
  );
  return issueAt(
    ["imageMaximumGCAge"],
    most !== undefined && most > 0 && most <= (least || YOUNGEST)
      ? 'is not longer than imageMinimumGCAge, which is "2m" unless you write it; write a longer one'
      : undefined,
  );
}

/** What the kubelet enforces by control groups. */
function groupIssues(kubelet: object): ValidationIssue[] {
  const {
    enforceNodeAllocatable,
    cgroupsPerQOS,
    reservedSystemCPUs = "",
  } = kubelet as Record<string, unknown>;
  // kubeadm leaves an empty list out, and the kubelet enforces pods
  const enforced = isFilled(enforceNodeAllocatable) ? (enforceNodeAllocatable as unknown[]) : ["pods"];
  const isNothing = enforced.includes("none");
  return [
    ...issueAt(
      ["enforceNodeAllocatable"],
      isNothing && enforced.length > 1 ? '"none" is for itself; remove it, or the others' : undefined,
    ),
    ...issueAt(
      ["cgroupsPerQOS"],
      cgroupsPerQOS === false && !isNothing
        ? "is false, and the kubelet enforces the limits of pods; write enforceNodeAllocatable: [none], too"
        : undefined,
    ),
    ...["systemReservedCgroup", "kubeReservedCgroup"].flatMap((field) => {
      const group = valueAt(kubelet, [field]);
      return issueAt(
        [field],
        typeof group === "string" && group !== "" && reservedSystemCPUs !== ""
          ? "is there beside reservedSystemCPUs, and the kubelet takes one of them; remove the other"
          : undefined,
      );
    }),
  ];
}

const ALLOWLISTED = "NeverVerifyAllowlistedImages";

/** Returns the issues of fields that exclude each other, or need each other, or the kubelet ends at its start. */
export function kubeletPairIssues(kubelet: object): ValidationIssue[] {
  const at = (...path: string[]) => valueAt(kubelet, path);
  const factor = at("memoryThrottlingFactor");
  const samples = at("tracing", "samplingRatePerMillion");
  return [
    ...periodIssues(kubelet),
    ...imageAgeIssues(kubelet),
    ...groupIssues(kubelet),
    ...issueAt(
      ["memoryThrottlingFactor"],
      typeof factor === "number" && (factor <= 0 || factor > 1)
        ? `${factor} is not allowed; write a number above 0, up to 1`
        : undefined,
    ),
    ...issueAt(
      ["tracing", "samplingRatePerMillion"],
      typeof samples === "number" && (samples < 0 || samples > 1e6)
        ? `${samples} is not allowed; write a number, from 0 to 1000000`
        : undefined,
    ),
    ...issueAt(
      ["preloadedImagesVerificationAllowlist"],
      isFilled(at("preloadedImagesVerificationAllowlist")) &&
        at("imagePullCredentialsVerificationPolicy") !== ALLOWLISTED
        ? `needs imagePullCredentialsVerificationPolicy: ${ALLOWLISTED}; write it, or remove the list`
        : undefined,
    ),
    ...issueAt(
      ["enableSystemLogQuery"],
      at("enableSystemLogQuery") === true && at("enableSystemLogHandler") === false
        ? "needs enableSystemLogHandler, which is false; remove one"
        : undefined,
    ),
  ];
}
