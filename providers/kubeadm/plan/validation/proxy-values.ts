import { isObject } from "../../../../lib/json";
import { quoted } from "../../../../lib/text/quote";
import { ipVersion } from "../../../../lib/validation/addresses";
import { issueAt, type ValidationIssue, valueAt } from "../../../../lib/validation/validation-issue";
import { parseDuration } from "./field-values";

/** Limits of whole numbers, by their paths (pkg/proxy/apis/config/validation). */
const RANGES: Readonly<Record<string, readonly [number, number]>> = {
  "iptables.masqueradeBit": [0, 31],
  "nftables.masqueradeBit": [0, 31],
  oomScoreAdj: [-1000, 1000],
};

const seconds = (value: unknown) => (typeof value === "string" ? parseDuration(value) : undefined);

/** kube-proxy ends unless its longest pause between two writes is at least the shortest. */
function periodIssues(proxy: object, mode: string): ValidationIssue[] {
  const [longest, shortest] = ["syncPeriod", "minSyncPeriod"].map((field) =>
    seconds(valueAt(proxy, [mode, field])),
  );
  return issueAt(
    [mode, "minSyncPeriod"],
    longest !== undefined && shortest !== undefined && shortest > longest
      ? "is longer than syncPeriod, and kube-proxy does not start; write a shorter one"
      : undefined,
  );
}

/** Returns the issues of values for which every supported kube-proxy ends at its start; paths are relative to its configuration. */
export function proxyValueIssues(proxy: unknown): ValidationIssue[] {
  if (!isObject(proxy)) return [];
  const { bindAddress } = proxy;
  const ranges = Object.entries(RANGES).flatMap(([field, [least, most]]) => {
    const path = field.split(".");
    const value = valueAt(proxy, path);
    const isWrong = typeof value === "number" && (value < least || value > most);
    return issueAt(
      path,
      isWrong ? `${value} is not allowed; write a number, from ${least} to ${most}` : undefined,
    );
  });
  const isAddress = typeof bindAddress !== "string" || bindAddress === "" || ipVersion(bindAddress) !== 0;
  return [
    ...ranges,
    ...["iptables", "ipvs", "nftables"].flatMap((mode) => periodIssues(proxy, mode)),
    ...issueAt(
      ["bindAddress"],
      isAddress ? undefined : `${quoted(String(bindAddress))} is not an address; write e.g. "0.0.0.0"`,
    ),
  ];
}
