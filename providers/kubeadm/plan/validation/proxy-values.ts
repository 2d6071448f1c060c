import { isObject } from "../../../../lib/json";
import { quoted } from "../../../../lib/text/quote";
import { ipVersion } from "../../../../lib/validation/addresses";
import { issueAt, type ValidationIssue, valueAt } from "../../../../lib/validation/validation-issue";
import { parseVersion } from "../rollout/versions";
import { blockIssue, parseDuration } from "./field-values";

/** Limits of whole numbers, by their paths (pkg/proxy/apis/config/validation). */
const RANGES: Readonly<Record<string, readonly [number, number]>> = {
  "iptables.masqueradeBit": [0, 31],
  oomScoreAdj: [-1000, 1000],
  "conntrack.maxPerCore": [0, Infinity],
  "conntrack.min": [0, Infinity],
  "clientConnection.burst": [0, Infinity],
  "logging.verbosity": [0, Infinity],
};
/** The same of the mode that a kube-proxy has. */
const RANGES_OF_MODE: Readonly<Record<string, typeof RANGES>> = {
  nftables: { "nftables.masqueradeBit": [0, 31] },
};
const DEFAULT_MODE = "iptables";

const CONNTRACK = ["tcpEstablishedTimeout", "tcpCloseWaitTimeout", "udpTimeout", "udpStreamTimeout"];
/** Durations that may be 0, by their paths. */
const PERIODS = ["configSyncPeriod", ...CONNTRACK.map((field) => `conntrack.${field}`)];
const IPVS_PERIODS = ["tcpTimeout", "tcpFinTimeout", "udpTimeout"].map((field) => `ipvs.${field}`);

const seconds = (value: unknown) => (typeof value === "string" ? parseDuration(value) : undefined);

/** kube-proxy ends unless its longest pause between two writes is at least the shortest. */
function pauseIssues(proxy: object, mode: string): ValidationIssue[] {
  const [longest, shortest] = ["syncPeriod", "minSyncPeriod"].map((field) =>
    seconds(valueAt(proxy, [mode, field])),
  );
  return issueAt(
    [mode, "minSyncPeriod"],
    longest !== undefined && longest > 0 && shortest !== undefined && shortest > longest
      ? "is longer than syncPeriod, and kube-proxy does not start; write a shorter one"
      : undefined,
  );
}

function rangeIssues(proxy: object, ranges: typeof RANGES): ValidationIssue[] {
  return Object.entries(ranges).flatMap(([field, [least, most]]) => {
    const path = field.split(".");
    const value = valueAt(proxy, path);
    const isWrong = typeof value === "number" && (value < least || value > most);
    const range = most === Infinity ? `${least} or more` : `from ${least} to ${most}`;
    return issueAt(path, isWrong ? `${value} is not allowed; write a number, ${range}` : undefined);
  });
}

const negativeIssues = (proxy: object, fields: readonly string[]): ValidationIssue[] =>
  fields.flatMap((field) => {
    const value = valueAt(proxy, field.split("."));
    const isNegative = (seconds(value) ?? 0) < 0;
    return issueAt(field.split("."), isNegative ? `${quoted(String(value))} is negative` : undefined);
  });

/** First minor in which there are other words than "primary", also beside blocks. */
const FIRST_WITH_WORDS = 37;
const WORDS = ["primary", "localhost", "all"];

function nodePortIssues(list: unknown, version: string | undefined): ValidationIssue[] {
  if (!Array.isArray(list)) return [];
  const hasWords = (parseVersion(version ?? "")?.minor ?? Infinity) >= FIRST_WITH_WORDS;
  return list.flatMap((one: unknown, index) => {
    if (typeof one !== "string") return [];
    const isAlone = hasWords || list.length === 1;
    const isWord = hasWords ? WORDS.includes(one) : one === "primary";
    const issue = isAlone ? undefined : `${quoted(one)} is for itself; remove it, or the others`;
    return issueAt(["nodePortAddresses", index], isWord ? issue : blockIssue(one));
  });
}

/** Names of what tells the addresses of a node's pods, by the mode. */
const LOCAL: Readonly<Record<string, string>> = {
  BridgeInterface: "bridgeInterface",
  InterfaceNamePrefix: "interfaceNamePrefix",
};

function localIssues(proxy: object): ValidationIssue[] {
  const { detectLocalMode: mode } = proxy as Record<string, unknown>;
  const field = typeof mode === "string" && Object.hasOwn(LOCAL, mode) ? LOCAL[mode] : undefined;
  if (field === undefined) return [];
  const { [field]: name = "" } = (valueAt(proxy, ["detectLocal"]) ?? {}) as Record<string, unknown>;
  return issueAt(
    ["detectLocal", field],
    name === ""
      ? `is missing, and detectLocalMode is ${String(mode)}; write the name of the interface`
      : undefined,
  );
}

/**
 * Returns the issues of values for which a kube-proxy ends at its start; paths are relative to its configuration.
 *
 * @param version of the cluster, if it is known
 * @param isWhole whether nothing but these and defaults counts; an adopted cluster has fields of its own
 */
export function proxyValueIssues(
  proxy: unknown,
  { version, isWhole = true }: { version?: string | undefined; isWhole?: boolean } = {},
): ValidationIssue[] {
  if (!isObject(proxy)) return [];
  const { bindAddress, mode: written } = proxy;
  const isWritten = typeof written === "string" && written !== "";
  const mode = isWritten ? written : isWhole ? DEFAULT_MODE : "";
  const isAddress = typeof bindAddress !== "string" || bindAddress === "" || ipVersion(bindAddress) !== 0;
  const excluded = mode === "ipvs" ? valueAt(proxy, ["ipvs", "excludeCIDRs"]) : undefined;
  return [
    ...rangeIssues(proxy, { ...RANGES, ...RANGES_OF_MODE[mode] }),
    ...negativeIssues(proxy, [
      ...PERIODS,
      `${mode}.minSyncPeriod`,
      `${mode}.syncPeriod`,
      ...(mode === "ipvs" ? IPVS_PERIODS : []),
    ]),
    ...pauseIssues(proxy, mode),
    ...nodePortIssues(proxy["nodePortAddresses"], version),
    ...(Array.isArray(excluded) ? (excluded as unknown[]) : []).flatMap((one, index) =>
      issueAt(["ipvs", "excludeCIDRs", index], typeof one === "string" ? blockIssue(one) : undefined),
    ),
    ...(isWhole ? localIssues(proxy) : []),
    ...issueAt(
      ["bindAddress"],
      isAddress ? undefined : `${quoted(String(bindAddress))} is not an address; write e.g. "0.0.0.0"`,
    ),
  ];
}
